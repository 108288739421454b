//go:build linux

package faults_test

import (
	"context"
	"crypto/md5"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/sqlguard"
)

// A question is a statement whose complete answer the test knows.
type question struct {
	sql     string // of PostgreSQL, or of what the scenario is about
	mariadb string
	rows    [][]string
}

// numbered asks for n rows that belong to tag: a number, a string with the tag,
// and a hash of both.
func numbered(tag string, n int) question {
	q := question{
		sql:     fmt.Sprintf("SELECT i, '%[1]s-' || i, md5('%[1]s-' || i) FROM generate_series(1, %[2]d) AS i ORDER BY i", tag, n),
		mariadb: fmt.Sprintf("SELECT i, CONCAT('%[1]s-', i), MD5(CONCAT('%[1]s-', i)) FROM numbers WHERE i <= %[2]d ORDER BY i", tag, n),
	}
	for i := range n {
		name := tag + "-" + strconv.Itoa(i+1)
		sum := md5.Sum([]byte(name))
		q.rows = append(q.rows, []string{strconv.Itoa(i + 1), name, hex.EncodeToString(sum[:])})
	}
	return q
}

// one asks for one row.
func one(tag string) question { return numbered(tag, 1) }

// napping returns tag after some seconds in which the server only sleeps.
func napping(tag string, seconds float64) question {
	return question{
		sql:     fmt.Sprintf("SELECT '%s' || public.nap(%g)", tag, seconds),
		mariadb: fmt.Sprintf("SELECT CONCAT('%s', %s(%g))", tag, napMark, seconds),
		rows:    [][]string{{tag}},
	}
}

// endless runs until it is ended.
func endless() question { return napping("never", 3600) }

// wrong says what is wrong with an answer, or returns "". A truncated result is
// wrong, because a question's answer is within all limits.
func (q question) wrong(res *execution.Result) string {
	if res == nil {
		return "neither rows nor an error"
	}
	if res.Truncated {
		return fmt.Sprintf("cut by %s at %d rows", res.TruncatedBy, len(res.Rows))
	}
	if len(res.Rows) != len(q.rows) {
		return fmt.Sprintf("%d rows, want %d", len(res.Rows), len(q.rows))
	}
	for i, row := range res.Rows {
		for j, v := range row {
			if len(row) != len(q.rows[i]) || v.Kind == execution.Null || v.Text != q.rows[i][j] {
				return fmt.Sprintf("row %d is %v, want %q", i, row, q.rows[i])
			}
		}
	}
	return ""
}

// ask sends a question and returns the code that it ended with, or "" for the
// right answer. It fails the scenario for every other result: wrong rows, an
// error together with rows, an error without a code, a code that the scenario
// does not list, or a call that hangs.
func (s *stand) ask(ctx context.Context, q question, lim execution.Limits) sqlguard.Code {
	s.Helper()
	_, code := s.asked(ctx, q, lim)
	return code
}

// asked is like ask, and also returns the error.
func (s *stand) asked(ctx context.Context, q question, lim execution.Limits) (*execution.Error, sqlguard.Code) {
	s.Helper()
	start := time.Now()
	res, err := s.gateway.Query(ctx, execution.Request{ConnectionID: connectionID, SQL: s.text(q), Limits: lim})
	if took := time.Since(start); took > hang {
		s.Errorf("%s: the call took %v", shorten(s.text(q)), took)
	}
	if err == nil {
		if wrong := q.wrong(res); wrong != "" {
			s.Errorf("%s: a wrong answer: %s", shorten(s.text(q)), wrong)
		}
		return nil, ""
	}
	if res != nil {
		s.Errorf("%s: rows together with the error %v", shorten(s.text(q)), err)
	}
	e, ok := errors.AsType[*execution.Error](err)
	if !ok {
		s.Errorf("%s: an error that is no *execution.Error: %v", shorten(s.text(q)), err)
		return nil, "untyped"
	}
	if !slices.Contains(s.scenario.codes, e.Code) {
		s.Errorf("%s: ended with %v (%v), which is not one of %v", shorten(s.text(q)), e, e.Err, s.scenario.codes)
	}
	return e, e.Code
}

// text returns a question's statement for the scenario's database.
func (s *stand) text(q question) string {
	if s.bench == nil {
		return q.sql
	}
	return s.bench.text(q)
}

// right asks a question that must get its right answer.
func (s *stand) right(q question) {
	s.Helper()
	res, err := s.gateway.Query(s.Context(), execution.Request{ConnectionID: connectionID, SQL: s.text(q)})
	s.answered(q, res, err)
}

// answered fails the scenario unless a question got its right answer.
func (s *stand) answered(q question, res *execution.Result, err error) {
	s.Helper()
	if err != nil {
		s.Errorf("%s: %v (%v)", shorten(s.text(q)), err, errors.Unwrap(err))
		return
	}
	if wrong := q.wrong(res); wrong != "" {
		s.Errorf("%s: a wrong answer: %s", shorten(s.text(q)), wrong)
	}
}

// wantCode fails the scenario unless a call ended with one of the codes.
func (s *stand) wantCode(got sqlguard.Code, want ...sqlguard.Code) {
	s.Helper()
	if !slices.Contains(want, got) {
		s.Errorf("ended with %q, want one of %q", got, want)
	}
}

// wantBusy fails the scenario unless e is the error busy and says when to
// retry.
func (s *stand) wantBusy(e *execution.Error) {
	s.Helper()
	if e == nil || e.Code != sqlguard.CodeBusy || !e.Retryable || e.RetryAfter <= 0 {
		s.Errorf("ended with %+v, want busy with a time to wait", e)
	}
}

// recovers asks until it gets the right answer. The fault is over, and the
// gateway is still the same. Errors before that must have a code of the
// scenario.
func (s *stand) recovers() {
	s.Helper()
	for end := time.Now().Add(hang); ; {
		if s.ask(s.Context(), numbered("again", 3), execution.Limits{Timeout: 30 * time.Second}) == "" {
			return
		}
		if time.Now().After(end) || s.Failed() {
			s.Fatal("the gateway does not recover")
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func shorten(sql string) string {
	if len(sql) > 60 {
		return sql[:60] + "…"
	}
	return sql
}

// tally counts how calls ended.
type tally map[sqlguard.Code]int

// String returns the counts, right answers first.
func (t tally) String() string {
	out := fmt.Sprintf("%d right", t[""])
	for _, code := range slices.Sorted(maps.Keys(t)) {
		if code != "" {
			out += fmt.Sprintf(", %d `%s`", t[code], code)
		}
	}
	return out
}
