package prove

import (
	"context"
	"fmt"
	"strings"
)

// An MCP server for SQLite has the database within itself, so nothing lies between
// the two that could see a statement. What a statement changed is seen in the file;
// whether one that only reads was run is known from the answer alone. So the answer
// to a statement that must fail is learned first.

// The statements from which the answers are learned: the first one must run, on the
// file that the server was given, and the second one must fail.
const (
	fileMarkerSQL = "SELECT email AS " + marker + " FROM customers WHERE id = 1"
	fileMarked    = "ada@example.com"
	failingSQL    = "SELECT " + marker + " FROM nothing_of_that_name"
)

// readyFile is ready for SQLite.
func (g *guard) readyFile(ctx context.Context) error {
	g.rests, g.failure = true, ""
	good, err := g.server.ask(ctx, startLimit, fileMarkerSQL)
	if err != nil {
		return err
	}
	bad, err := g.server.ask(ctx, startLimit, failingSQL)
	if err != nil {
		return err
	}
	if !bad.refused { // the text says it, as in "Error: no such table"
		g.failure, _, _ = strings.Cut(bad.text, ":")
	}
	switch {
	case good.fault != "" || good.refused || !strings.Contains(good.text, fileMarked):
		return g.server.explain("try the MCP server", fmt.Errorf("the tool %s did not run %q on the database that it was given; its answer: %q", g.server.tool, fileMarkerSQL, good.text))
	case bad.fault != "" || !g.failed(bad) || g.failed(good):
		return g.server.explain("try the MCP server", fmt.Errorf("the answers of the tool %s do not tell a failure from a success: %q and %q", g.server.tool, bad.text, good.text))
	}
	return nil
}

// failed reports whether an answer says that the statement did not run.
func (g *guard) failed(a toolAnswer) bool {
	return a.refused || g.failure != "" && strings.HasPrefix(a.text, g.failure)
}

// readOnlyMessage is what SQLite says of a write through a handle for reading.
const readOnlyMessage = "attempt to write a readonly database"

// askFile puts a statement to the server of an SQLite database. The exchange is what
// the answer says about the statement.
func (g *guard) askFile(ctx context.Context, sql string) (w witnesses, err error) {
	if w.answer, err = g.server.ask(ctx, g.options.wait, sql); err != nil || w.answer.fault != "" {
		return w, err
	}
	ran := exchange{texts: []string{sql}, executed: true, done: true}
	switch failed := g.failed(w.answer); {
	case failed && strings.Contains(w.answer.text, readOnlyMessage):
		ran.code = "sqlite_8"
	case failed:
		return w, nil
	}
	w.exchanges = []exchange{ran}
	return w, nil
}

// alone says more about a statement of which only the answer of the server is known:
// SQLite itself may have refused it, if the answer has SQLite's words, or run it
// without end.
func (g *guard) alone(ctx context.Context, sql string, v verdict) (verdict, error) {
	if v.code != codeRefusedByServer && v.fault != faultTimeout {
		return v, nil
	}
	o, err := g.withoutServer(ctx, sql)
	switch {
	case err != nil:
		return v, err
	case v.fault == faultTimeout && o.Result == TimedOut:
		return verdict{"allow", codeUntilLimit, "", v.detail}, nil
	case v.fault == "" && o.Result == Failed && o.message != "" && strings.Contains(v.detail, beginning(o.message)):
		v.code = codeRefusedByDB + "_" + codeOf(o)
	}
	return v, nil
}
