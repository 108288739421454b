package sqlserver_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ktxhq/ktx/corpus"
	"github.com/ktxhq/ktx/dialects/internal/dialecttest"
	"github.com/ktxhq/ktx/dialects/sqlserver"
	"github.com/ktxhq/ktx/sqlguard"
)

// answer is the result of testdata/teesql for one text.
type answer struct {
	Error      string
	Statements []string
	Kinds      []string
	Into       bool
}

// patience is the time limit of the other parser for one text. The parser never ends on
// some texts; the test skips those.
const patience = 20 * time.Second

// oracle is the parser teesql in a separate process.
type oracle struct {
	program string
	cmd     *exec.Cmd
	in      io.WriteCloser
	out     chan string
	ended   int // number of processes that the test ended because of a text
}

// newOracle builds the program, which needs the module of the parser.
func newOracle(t *testing.T) *oracle {
	t.Helper()
	o := &oracle{program: filepath.Join(t.TempDir(), "teesql")}
	build := exec.CommandContext(t.Context(), "go", "build", "-o", o.program, ".")
	build.Dir = filepath.Join("testdata", "teesql")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
	if text, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the other parser: %v\n%s", err, text)
	}
	o.start(t)
	t.Cleanup(o.stop)
	return o
}

func (o *oracle) start(t *testing.T) {
	t.Helper()
	o.cmd = exec.Command(o.program) //nolint:noctx // stop ends it
	in, err := o.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := o.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := o.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	o.in, o.out = in, make(chan string, 1)
	go func(lines chan<- string) {
		defer close(lines)
		r := bufio.NewReader(out)
		for {
			line, err := r.ReadString('\n')
			if err != nil {
				return
			}
			lines <- line
		}
	}(o.out)
}

func (o *oracle) stop() {
	_ = o.in.Close()
	_ = o.cmd.Process.Kill()
	for range o.out { // until the reader of its output ends
	}
	_ = o.cmd.Wait()
}

// ask returns the other parser's answer for a text. ok is false when there is no answer in
// time, or when the process ended.
func (o *oracle) ask(t *testing.T, sql string) (a answer, ok bool) {
	t.Helper()
	question, err := json.Marshal(sql)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := o.in.Write(append(question, '\n')); err == nil {
		select {
		case line, open := <-o.out:
			if open {
				if err := json.Unmarshal([]byte(line), &a); err != nil {
					t.Fatal(err)
				}
				return a, true
			}
		case <-time.After(patience):
		}
	}
	o.stop()
	o.ended++
	o.start(t)
	return answer{}, false
}

// suspect names a construct in the answer that no read has, or "" when there is none.
func (a *answer) suspect() string {
	var out []string
	switch {
	case len(a.Statements) != 1:
		out = append(out, fmt.Sprintf("%d statements: %s", len(a.Statements), strings.Join(a.Statements, ", ")))
	case a.Statements[0] != "SelectStatement":
		out = append(out, a.Statements[0])
	}
	if a.Into {
		out = append(out, "INTO")
	}
	for _, kind := range a.Kinds {
		for _, part := range []string{
			"DataModification", "OpenRowset", "OpenQuery", "OpenXml", "AdHoc", "NextValueFor", "VariableReference", "Execute",
			"InsertSpec", "DeleteSpec", "UpdateSpec", "MergeSpec", "SelectSetVariable", "Predict",
		} {
			if strings.Contains(kind, part) {
				out = append(out, kind)
			}
		}
	}
	return strings.Join(out, "; ")
}

// difference is a reviewed reason why the other parser finds more than one read in a text
// that is one read.
type difference struct {
	cause   string
	example string // shows the difference today
	// holds judges by the words of the text, with /**/ for a comment in which
	// another one stands.
	holds func(words []string, a *answer) bool
}

// differences lists all known reasons. Read the reference on the construct before you add
// one.
var differences = []difference{
	{
		cause:   "COLLATE in ORDER BY, or behind another one, is not read: the rest of the text is taken for a procedure",
		example: "SELECT a FROM t ORDER BY a COLLATE Latin1_General_CI_AS",
		holds: func(words []string, a *answer) bool {
			return has(words, "collate") && a.only("ExecuteStatement", "LabelStatement")
		},
	},
	{
		cause:   "FETCH APPROXIMATE is not read: FETCH is taken for the statement on cursors",
		example: "SELECT a FROM t ORDER BY a FETCH APPROXIMATE NEXT 5 ROWS ONLY",
		holds: func(words []string, a *answer) bool {
			return has(words, "approximate", "approx") && a.only("ExecuteStatement", "FetchCursorStatement")
		},
	},
	{
		cause:   "FOR behind a query without FROM is not read: the rest is taken for a procedure",
		example: "SELECT a FOR JSON PATH",
		holds: func(words []string, a *answer) bool {
			return has(words, "for") && has(words, "xml", "json") && a.only("ExecuteStatement", "LabelStatement")
		},
	},
	{
		cause:   "OUTPUT and USING are not reserved, but no aliases there: they, or what follows, are taken for a procedure or a label",
		example: "SELECT a FROM t output",
		holds: func(words []string, a *answer) bool {
			return has(words, "output", "using") && a.only("ExecuteStatement", "LabelStatement")
		},
	},
	{
		cause:   "THROW is no name there: as a name or an alias it is taken for the statement, which needs a terminator before it",
		example: "SELECT 1 throw",
		holds: func(words []string, a *answer) bool {
			return has(words, "throw") && a.only("ThrowStatement", "ExecuteStatement", "LabelStatement")
		},
	},
	{
		cause:   "CHANGETABLE and PREDICT are read in one form: as names, or with an alias without AS, what follows is taken for a procedure or a label",
		example: "SELECT * FROM CHANGETABLE(CHANGES t, 0) c",
		holds: func(words []string, a *answer) bool {
			return has(words, "changetable", "predict") && a.only("ExecuteStatement", "LabelStatement")
		},
	},
	{
		cause:   "A window in brackets that is a name alone is not read: what follows is taken for a label",
		example: "SELECT * FROM (SELECT SUM(a) OVER (w) b FROM t WINDOW w AS (ORDER BY a)) x",
		holds: func(words []string, a *answer) bool {
			return has(words, "over") && a.only("LabelStatement")
		},
	},
	{
		cause:   "Comments do not nest there: the rest of a comment is taken for statements",
		example: "/* a /* b */ c */ SELECT 1",
		holds: func(words []string, a *answer) bool {
			return has(words, "/**/") && !a.Into && !slices.ContainsFunc(a.Statements, func(kind string) bool {
				return kind != "SelectStatement" && kind != "LabelStatement" && kind != "ExecuteStatement"
			})
		},
	},
	{
		cause:   "An alias behind the hints of a table is not read: it is taken for a procedure or a label",
		example: "SELECT a FROM t WITH (NOLOCK) u",
		holds: func(words []string, a *answer) bool {
			return (has(words, "with") || slices.ContainsFunc(words, sqlserver.TableHint)) && a.only("ExecuteStatement", "LabelStatement")
		},
	},
}

func has(words []string, any ...string) bool {
	return slices.ContainsFunc(any, func(word string) bool { return slices.Contains(words, word) })
}

// only reports whether the answer is one SELECT, followed only by statements of these
// kinds.
func (a *answer) only(kinds ...string) bool {
	if a.Into || len(a.Statements) < 2 || a.Statements[0] != "SelectStatement" {
		return false
	}
	for _, kind := range a.Statements[1:] {
		if !slices.Contains(kinds, kind) {
			return false
		}
	}
	return true
}

// reviewed returns the index of the difference in the table, or -1.
func reviewed(sql string, a *answer) int {
	var words []string
	for _, token := range (sqlserver.Dialect{}).Lex(sql).List {
		switch text := token.Text(sql); {
		case token.Kind == sqlguard.TokenWord:
			words = append(words, strings.ToLower(text))
		case token.Kind == sqlguard.TokenComment && strings.LastIndex(text, "/*") > 0:
			words = append(words, "/**/")
		}
	}
	return slices.IndexFunc(differences, func(d difference) bool { return d.holds(words, a) })
}

// TestAgainstTeesql parses texts that the guard allows with another parser: those
// of the corpus and of testdata, and mutations of both. The test fails when that
// parser sees several statements, a statement other than SELECT, INTO, a change
// of data, OPEN… or NEXT VALUE FOR, unless the table of differences gives the
// reason. The other parser has bugs of its own, so its agreement proves nothing;
// only disagreement is useful.
func TestAgainstTeesql(t *testing.T) {
	if testing.Short() {
		t.Skip("builds another parser")
	}
	o := newOracle(t)
	g := newGuard(t)
	for _, d := range differences {
		if v := g.Check(d.example); !v.Allowed {
			t.Errorf("%s is refused: %v", d.example, v.Findings)
		}
		if a, ok := o.ask(t, d.example); !ok || a.suspect() == "" || a.Error != "" {
			t.Errorf("%s: the other parser sees nothing in it: %+v", d.example, a)
		}
	}
	known := make(map[string]bool)
	hits := make([]int, len(differences))
	read, failed := 0, 0
	compare := func(sql string) {
		if known[sql] {
			return
		}
		known[sql] = true
		if !g.Check(sql).Allowed {
			return
		}
		a, ok := o.ask(t, sql)
		if !ok || a.Error != "" {
			failed++
			return
		}
		read++
		if what := a.suspect(); what != "" {
			if i := reviewed(sql, &a); i >= 0 {
				hits[i]++
			} else {
				t.Errorf("%s\nis one query here, and to the other parser: %s", sql, what)
			}
		}
	}
	for _, c := range cases(t) {
		if c.Expect == corpus.Allow {
			compare(c.SQL)
		}
	}
	for _, sql := range append(lines(t, "reads.txt"), ends...) {
		compare(sql)
	}
	own := read
	m := newMutator(t, 3)
	most := 3 * own
	if dialecttest.Full() {
		most = 15 * own
	}
	for read < most && len(known) < 300_000 && o.ended < 50 {
		compare(m.Next())
	}
	t.Logf("%d texts read by both, %d of them mutations; %d that the other parser did not read, %d processes ended", read, read-own, failed, o.ended)
	for i, d := range differences {
		t.Logf("%d: %s", hits[i], d.cause)
	}
	if own < 300 || read < 2*own {
		t.Errorf("only %d texts and %d mutations were compared", own, read-own)
	}
}
