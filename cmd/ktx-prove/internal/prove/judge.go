package prove

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// The codes of a decision about an MCP server. A code that is about the
// database is followed by an underscore and the SQLSTATE, for MySQL and SQLite with
// the number of the error.
const (
	codeExecuted        = "executed"             // no change was seen
	codeChanged         = "executed_changed"     // a probe saw a change
	codeUntilLimit      = "executed_until_limit" // it ran until a limit stopped it
	codeRefusedByServer = "refused_by_server"    // it did not reach the database
	codeRefusedByDB     = "refused_by_database"  // in the server's session; the database runs the statement by itself
	codeFailsAnyway     = "fails_anyway"         // the database refuses it from this role, with or without the server
	codeNotRunnable     = "not_runnable"         // an allow case that this database does not run
	codeNeverRun        = "never_run"            // the server sent it, and it was stopped before the database
	codeNotText         = "not_text"             // JSON cannot hold it
	codeOtherDialect    = "unsupported_dialect"
)

// witnesses are the observations for one call of the tool.
type witnesses struct {
	answer    toolAnswer
	exchanges []exchange // without the server's habits
	changed   []string
}

// verdict is the result for one statement.
type verdict struct {
	decision string // allow, reject or error
	code     string
	fault    string
	detail   string
}

// judge decides from the observations what happened to a statement. Changes
// count most, then what the database did, and last the answer. A server may
// report a refusal as a success, and a success as a refusal.
func judge(sql string, w witnesses) verdict {
	if len(w.changed) > 0 {
		return verdict{"allow", codeChanged, "", Outcome{Changed: w.changed}.Probe()}
	}
	own, whole := ownExchanges(sql, w.exchanges)
	if slices.ContainsFunc(own, func(e exchange) bool { return slices.Contains(endedByOther, e.code) }) {
		return verdict{"allow", codeChanged, "", Outcome{Changed: []string{"session ended"}}.Probe()}
	}
	if w.answer.fault == faultTimeout && slices.ContainsFunc(own, exchange.cutShort) {
		return verdict{"allow", codeUntilLimit, "", w.answer.text}
	}
	if w.answer.fault != "" {
		return verdict{"error", "", w.answer.fault, w.answer.text}
	}
	if len(own) == 0 {
		return verdict{"reject", codeRefusedByServer, "", w.answer.text}
	}
	for _, e := range own {
		switch {
		case e.cutShort():
			return verdict{"allow", codeUntilLimit, "", ""}
		case e.code != "":
			return verdict{"reject", codeRefusedByDB + "_" + e.code, "", w.answer.text}
		}
	}
	if !whole && w.answer.refused {
		// Parts of the statement ran, and then the server refused the rest.
		return verdict{"reject", codeRefusedByServer, "", w.answer.text}
	}
	return verdict{"allow", codeExecuted, "", ""}
}

// endedByOther are the codes with which a session learns that another one ended
// it: those of PostgreSQL and of MariaDB.
var endedByOther = []string{"57P01", "70100_1927"}

// cutShort reports whether a limit or the caller stopped the statement. The codes
// are those of PostgreSQL, of MySQL for a statement that was stopped, and of MariaDB
// and MySQL for the limit of time.
func (e exchange) cutShort() bool {
	return slices.Contains([]string{"57014", limitReached, "70100_1317", "70100_1969", "HY000_3024"}, e.code) || e.code == "" && !e.done
}

// ownExchanges returns the exchanges that ran the statement, or what the server
// made of it. whole reports whether one of them had the statement unchanged.
func ownExchanges(sql string, all []exchange) (own []exchange, whole bool) {
	core := strings.Trim(sql, " \t\r\n;")
	var others []exchange
	for _, e := range all {
		if !e.executed && e.code == "" {
			continue // It was only described, which fails for a statement that the database cannot read.
		}
		has := core != "" && slices.ContainsFunc(e.texts, func(text string) bool {
			at := strings.Index(text, core)
			return at >= 0 && !onlyPlans(text[:at])
		})
		if has {
			own = append(own, e)
		} else if !slices.ContainsFunc(e.texts, onlyPlans) {
			others = append(others, e)
		}
	}
	if len(own) > 0 {
		return own, true
	}
	return others, false
}

// explains matches the start of a statement that plans another one.
var explains = regexp.MustCompile(`(?is)^\s*EXPLAIN\b`)

// onlyPlans reports whether the text before a statement keeps it from running.
func onlyPlans(before string) bool {
	return explains.MatchString(before) && !strings.Contains(strings.ToLower(before), "analy")
}

// figures are what differs between two runs of the same statement of a server.
var figures = regexp.MustCompile(`[0-9]+`)

// shape returns the statements of an exchange without figures.
func (e exchange) shape() string {
	return figures.ReplaceAllString(strings.Join(e.texts, "\x00"), "0")
}

// habits are the exchanges that a server has with the database for its own
// purposes: to set up a session, and around each statement.
type habits struct {
	setUp map[string]bool // in a new session
	each  map[string]int  // how often for one statement
}

// learn derives the habits from the exchanges of the first harmless statement
// after the start, and of the same statement again. marker identifies the
// statement itself.
func learn(marker string, first, again []exchange) habits {
	h := habits{setUp: map[string]bool{}, each: map[string]int{}}
	isMarker := func(e exchange) bool {
		return slices.ContainsFunc(e.texts, func(text string) bool { return strings.Contains(text, marker) })
	}
	for _, e := range again {
		if !isMarker(e) {
			h.each[e.shape()]++
		}
	}
	for _, e := range first {
		if !isMarker(e) {
			h.setUp[e.shape()] = true
		}
	}
	return h
}

// beyond returns the exchanges that are not habits. known are the sessions that
// existed before.
func (h habits) beyond(all []exchange, known []*tapped) []exchange {
	left := maps.Clone(h.each)
	var rest []exchange
	for _, e := range all {
		shape := e.shape()
		switch {
		case left[shape] > 0:
			left[shape]--
		case h.setUp[shape] && !slices.Contains(known, e.conn):
		default:
			rest = append(rest, e)
		}
	}
	return rest
}
