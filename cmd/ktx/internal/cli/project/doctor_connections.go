package project

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/wiring"
	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/sqlguard"
)

const (
	// probesAtOnce is the number of connections that are examined at a time.
	probesAtOnce = 8
	// topicNames is the topic of names in ktx.yaml that the database does not have.
	topicNames = "names"
	// topicHeld is the topic of statements that the server has not ended.
	topicHeld = "held"
	// probeGrace is how long to wait for the driver after the time limit.
	probeGrace = 2 * time.Second
)

// probes examines the connections, several at a time, each within the time limit.
func (e *examination) probes(ctx context.Context, open *wiring.OpenProject) {
	var ids []string
	for _, c := range open.Gateway.Connections(ctx) {
		if c.Runs && (e.only == "" || e.only == c.ID) {
			ids = append(ids, c.ID)
		}
	}
	e.results = make([]probeResult, len(ids))
	progress := e.app.Progress("connections", len(ids))
	defer progress.Stop()
	slots := make(chan struct{}, probesAtOnce)
	var wait sync.WaitGroup
	for i, id := range ids {
		wait.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			e.results[i] = e.probe(ctx, open, id)
			progress.Step()
		})
	}
	wait.Wait()
}

// probe examines one connection. It returns in time even if the driver does not.
func (e *examination) probe(ctx context.Context, open *wiring.OpenProject, id string) probeResult {
	ended := make(chan probeResult, 1)
	go func() { ended <- probe(ctx, e.app, open, id, e.timeout) }()
	late := time.NewTimer(e.timeout + probeGrace)
	defer late.Stop()
	select {
	case r := <-ended:
		return r
	case <-late.C:
		err := execution.NewError(sqlguard.CodeTimeout, "no answer within "+e.timeout.String(), nil)
		failure := e.app.ErrorJSON(err)
		return probeResult{ID: id, Error: &failure, err: err}
	}
}

// connections reports on every connection that runs statements.
func (e *examination) connections(ctx context.Context, open *wiring.OpenProject) {
	if len(open.Gateway.Connections(ctx)) == 0 {
		e.add(finding{Group: groupConnection, Level: levelNote, Message: "none is configured", Fix: "add one to " + e.project.File})
		return
	}
	e.probes(ctx, open)
	held, err := heldStatements(ctx, e.project)
	if err != nil {
		e.add(finding{Group: groupConnection, Level: levelWarning, Message: "the audit log does not say which statements may still run: " + err.Error(), Fix: "ktx audit verify"})
	}
	for _, r := range e.results {
		e.connection(ctx, open, r)
		if list := held[r.ID]; len(list) > 0 {
			e.add(finding{
				Group: groupConnection, Connection: r.ID, Topic: topicHeld, Level: levelWarning, Message: heldText(list),
				Fix: "they keep their turns until they end; if they do not, end them at the server",
			})
		}
	}
}

func (e *examination) connection(ctx context.Context, open *wiring.OpenProject, r probeResult) {
	add := func(level, topic, message, fix string) {
		e.add(finding{Group: groupConnection, Connection: r.ID, Topic: topic, Level: level, Message: message, Fix: fix})
	}
	if !r.OK {
		add(levelError, "", r.err.Error(), connectHint(r.err))
		return
	}
	report := r.Report
	wiring.RememberProbe(e.project, r.ID, *report)
	answers := "answers: " + report.Server
	if report.Role != "" {
		answers += ", role " + report.Role
	}
	if report.TLSVersion != "" {
		answers += ", " + report.TLSVersion
	}
	add(levelOK, "", answers, "")
	switch {
	case report.ReadOnly:
		add(levelOK, string(execution.TopicSession), "the engine refused every write that was tried", "")
	case report.Refused:
		add(levelError, string(execution.TopicSession), "the engine refused the write that was tried, but the role may do more than read, and the engine has no read-only session", "use a role that can only read: ktx doctor --role-script prints how to make one")
	default:
		add(levelError, string(execution.TopicSession), "the engine did not refuse a write that was tried in the read-only session", "do not use the connection")
	}
	if wiring.RefusesRole(e.project, r.ID) && writable(report) {
		add(levelError, string(execution.TopicRole), "statements are refused because the role can do more than read (guard.role: refuse)", "ktx doctor --role-script prints how to make a role that can only read")
	}
	for _, f := range report.Findings {
		add(string(f.Level), string(f.Topic), f.Message, f.Fix)
	}
	e.catalogue(ctx, open, r.ID, add)
	e.names(ctx, open, r.ID, add)
}

// connectHint returns what to do when a connection does not open. It replaces the
// hints of codes that are written for statements.
func connectHint(err error) string {
	e, ok := errors.AsType[*execution.Error](err)
	if !ok || e.ServerHint != "" || e.Hint != "" {
		return console.HintOf(err)
	}
	switch e.Code { //nolint:exhaustive // the other codes have hints that fit
	case sqlguard.CodeTimeout:
		return "check that this machine can reach the server; ktx doctor --timeout gives it more time"
	case sqlguard.CodeConnectionLost:
		return "check that the server runs, and that ktx.yaml has its host and port"
	case sqlguard.CodeNotConfigured:
		return "set the variable or file that the connection in ktx.yaml names, or change it there"
	}
	return console.HintOf(err)
}

// catalogue reports whether the guard knows the objects of the database.
func (e *examination) catalogue(ctx context.Context, open *wiring.OpenProject, id string, add func(level, topic, message, fix string)) {
	info, err := open.Gateway.Connection(ctx, id)
	switch {
	case err != nil || !info.Catalog.Objects:
	case info.Catalog.Failure != "":
		add(levelWarning, "", "the objects of the database could not be read: "+info.Catalog.Failure, "")
	default:
		add(levelOK, "", fmt.Sprintf("the guard knows the objects of the database: %s", console.Count(info.Catalog.Count, "object")), "")
	}
}

// names reports the names in access and functions that the database does not have.
// A rule that denies a misspelt name denies nothing, so that is a warning. Other
// names are a note, because they may be for objects that are made later. So is a
// denied name where a role sees only what it may read: it is not to see this one.
func (e *examination) names(ctx context.Context, open *wiring.OpenProject, id string, add func(level, topic, message, fix string)) {
	ctx, cancel := context.WithTimeout(ctx, e.timeout)
	defer cancel()
	info, err := open.Gateway.Connection(ctx, id)
	var unmatched []sqlguard.UnmatchedName
	if err == nil {
		unmatched, err = open.Gateway.Unmatched(ctx, id)
	}
	if err != nil {
		add(levelWarning, topicNames, "the names in access and functions could not be checked: "+err.Error(), "")
		return
	}
	written := e.project.Config.Connections[id].Access
	for _, u := range unmatched {
		if u.Key == "access.schemas.deny" && !slices.Contains(written.Schemas.Deny, u.Name) || u.Key == "access.tables.deny" && !slices.Contains(written.Tables.Deny, u.Name) {
			continue // a rule that ktx adds by itself
		}
		level, why, fix := levelNote, "which the database does not have", "check the spelling"
		switch {
		case u.Near != "":
			fix = fmt.Sprintf("did you mean %s?", u.Near)
			if u.Protects {
				level = levelWarning
			}
		case u.Protects && seesOnlyReadable[info.Dialect]:
			why, fix = "which the role does not see: it may not read it, or the database does not have it", "compare it with the names that the database's owner sees"
		case u.Protects:
			level = levelWarning
		}
		add(level, topicNames, fmt.Sprintf("%s names %s, %s", u.Key, u.Name, why), fix)
	}
}

// seesOnlyReadable are the dialects of engines that show a role only the tables and columns that it
// has a right on.
var seesOnlyReadable = map[string]bool{"mysql": true, "sqlserver": true, "clickhouse": true, "bigquery": true}

// artifactOnly returns why statements cannot run on a connection, or "" when they
// can.
func artifactOnly(c execution.Connection) string {
	switch {
	case c.Open != nil:
		return ""
	case c.Dialect == nil:
		return "this version runs no statements on " + c.Engine
	case c.Unavailable != nil:
		return "no statements are run on it: " + strings.TrimPrefix(c.Unavailable.Message, "connection "+c.ID+": ")
	default:
		return "no statements are run on it"
	}
}
