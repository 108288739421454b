//go:build cgo && duckdb && (linux || darwin) && (amd64 || arm64)

package duckdb_test

import (
	"encoding/json"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	bindings "github.com/duckdb/duckdb-go-bindings"

	"github.com/ktxhq/ktx/dialects/duckdb"
	"github.com/ktxhq/ktx/dialects/internal/dialecttest"
	"github.com/ktxhq/ktx/sqlguard"
)

// oracle is DuckDB's own opinion on texts. It runs none of them.
type oracle struct {
	t         *testing.T
	c         bindings.Connection
	serialize bindings.PreparedStatement
	missing   string // the table that the last text lacks
}

func newOracle(t *testing.T) *oracle {
	t.Helper()
	var db bindings.Database
	var message string
	o := &oracle{t: t}
	if bindings.OpenExt(":memory:", &db, bindings.Config{}, &message) != bindings.StateSuccess {
		t.Fatalf("open DuckDB: %s", message)
	}
	t.Cleanup(func() { bindings.Close(&db) })
	if bindings.Connect(db, &o.c) != bindings.StateSuccess {
		t.Fatal("connect to DuckDB")
	}
	t.Cleanup(func() { bindings.Disconnect(&o.c) })
	o.run("CREATE TABLE t (a INTEGER, b INTEGER, c VARCHAR); SET enable_external_access = false; SET threads = 1")
	if bindings.Prepare(o.c, "SELECT json_serialize_sql($1::VARCHAR)::VARCHAR", &o.serialize) != bindings.StateSuccess {
		t.Fatal(bindings.PrepareError(o.serialize))
	}
	t.Cleanup(func() { bindings.DestroyPrepare(&o.serialize) })
	return o
}

// The engine's opinions.
const (
	oneRead  = "one SELECT or EXPLAIN"
	notRead  = "no text of its grammar" // it never runs
	unbound  = "one statement that names tables that are not there"
	faulty   = "one statement that it cannot bind" // it never runs
	severals = "more than one statement"
)

// classify returns the engine's opinion on a text: one of those above, or what else it is.
func (o *oracle) classify(sql string) string {
	var extracted bindings.ExtractedStatements
	defer bindings.DestroyExtracted(&extracted)
	switch n := bindings.ExtractStatements(o.c, sql, &extracted); {
	case n == 0:
		return notRead
	case n > 1:
		return severals
	}
	var prepared bindings.PreparedStatement
	defer bindings.DestroyPrepare(&prepared)
	if bindings.PrepareExtractedStatement(o.c, extracted, 0, &prepared) == bindings.StateSuccess {
		switch kind := bindings.PreparedStatementType(prepared); kind {
		case bindings.StatementTypeSelect, bindings.StatementTypeExplain:
			return oneRead
		default:
			return "a statement of type " + strconv.Itoa(int(kind))
		}
	}
	opinion := o.parsed(sql)
	name, lacks := strings.CutPrefix(bindings.PrepareError(prepared), "Catalog Error: Table with name ")
	if opinion == unbound && !lacks {
		return faulty
	}
	o.missing, _, _ = strings.Cut(name, " does not exist")
	return opinion
}

// run runs a statement of the oracle's own.
func (o *oracle) run(sql string) {
	o.t.Helper()
	var r bindings.Result
	defer bindings.DestroyResult(&r)
	if bindings.Query(o.c, sql, &r) != bindings.StateSuccess {
		o.t.Fatal(bindings.ResultError(&r))
	}
}

// withTable is classify with the table that a text lacks. Only PIVOT needs it, of which the
// engine shows no tree.
func (o *oracle) withTable(sql string) string {
	name := `"` + strings.ReplaceAll(o.missing, `"`, `""`) + `"`
	o.run("CREATE TABLE " + name + " AS FROM t")
	defer o.run("DROP TABLE " + name)
	return o.classify(sql)
}

// opinion is classify, which also looks into EXPLAIN and PRAGMA.
func (o *oracle) opinion(sql string) string {
	opinion := o.classify(sql)
	if opinion == unbound && o.missing != "" {
		opinion = o.withTable(sql)
	}
	if opinion == unbound || opinion == faulty {
		if slices.ContainsFunc(explained(sql), func(inner string) bool { return inner != sql && o.classify(inner) == oneRead }) || ofTable(sql) != "" && o.classify(ofTable(sql)) == oneRead {
			return oneRead
		}
	}
	return opinion
}

// parsed asks for the tree of a text, which the engine makes of SELECT alone, and without
// looking for tables.
func (o *oracle) parsed(sql string) string {
	var r bindings.Result
	defer bindings.DestroyResult(&r)
	if bindings.BindVarchar(o.serialize, 1, sql) != bindings.StateSuccess || bindings.ExecutePrepared(o.serialize, &r) != bindings.StateSuccess {
		return "no tree: " + bindings.ResultError(&r)
	}
	chunk := bindings.FetchChunk(r)
	if chunk.Ptr == nil {
		return "no tree"
	}
	defer bindings.DestroyDataChunk(&chunk)
	text := bindings.StringTData(&(*[2048]bindings.StringT)(bindings.VectorGetData(bindings.DataChunkGetVector(chunk, 0)))[0])
	var tree struct {
		Error      bool              `json:"error"`
		Message    string            `json:"error_message"`
		Statements []json.RawMessage `json:"statements"`
	}
	if err := json.Unmarshal([]byte(text), &tree); err != nil {
		return "no tree: " + err.Error()
	}
	switch {
	case !tree.Error && len(tree.Statements) == 1:
		return oneRead
	case !tree.Error:
		return severals
	default:
		return unbound
	}
}

// explained returns what an EXPLAIN explains: the statement behind it, and the one behind
// its options in brackets, which a statement can look like.
func explained(sql string) []string {
	var out []string
	tokens := duckdb.Dialect{}.Lex(sql).List
	for depth, i := 0, 0; i < len(tokens); i++ {
		t := tokens[i]
		word := ""
		if t.Kind == sqlguard.TokenWord {
			word = strings.ToLower(t.Text(sql))
		}
		switch {
		case t.Kind == sqlguard.TokenOpen:
			if depth++; depth == 1 {
				out = append(out, sql[t.Start:])
			}
		case t.Kind == sqlguard.TokenClose:
			depth--
		case t.Kind == sqlguard.TokenComment || t.Kind == sqlguard.TokenTerminator || depth > 0 || word == "explain" || word == "analyze" || word == "analyse" || word == "verbose":
		default:
			return append(out, sql[t.Start:])
		}
	}
	return out
}

// ofTable returns a PRAGMA name(table) for a table that is there, or "" for another text.
func ofTable(sql string) string {
	var parts []sqlguard.Token
	for _, t := range (duckdb.Dialect{}).Lex(sql).List {
		if t.Kind != sqlguard.TokenComment && t.Kind != sqlguard.TokenTerminator {
			parts = append(parts, t)
		}
	}
	if len(parts) < 5 || !strings.EqualFold(parts[0].Text(sql), "pragma") || parts[2].Kind != sqlguard.TokenOpen {
		return ""
	}
	return "PRAGMA " + parts[1].Text(sql) + "('t')"
}

// TestMutationsAgainstTheEngine makes statements from reads and from refused statements, and
// asks the engine about each that is allowed: it must be exactly one SELECT or EXPLAIN, or
// one that the engine does not run: no text of its grammar, which is older than the reader's,
// or one that it cannot bind. KTX_DUCKDB_MUTANTS is how many are
// made, 20,000 unless it is set, and KTX_DUCKDB_SEED the first seed.
func TestMutationsAgainstTheEngine(t *testing.T) {
	number := func(name string, usual int) int {
		text := os.Getenv(name)
		if text == "" {
			return usual
		}
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	total, seed := number("KTX_DUCKDB_MUTANTS", 20_000), number("KTX_DUCKDB_SEED", 1)
	o := newOracle(t)
	g := dialecttest.NewGuard(t, duckdb.Dialect{})
	m := newMutator(uint64(seed))
	opinions, allowed, wrong := map[string]int{}, 0, 0
	for range total {
		sql := m.Next()
		v := g.CheckOnce(sql)
		if !v.Allowed {
			continue
		}
		allowed++
		opinion := o.opinion(sql)
		opinions[opinion]++
		if opinion == oneRead || opinion == notRead || opinion == faulty {
			continue
		}
		if wrong++; wrong <= 60 {
			t.Errorf("allowed as %s: %q\nto the engine: %s", v.Verb, sql, opinion)
		}
	}
	t.Logf("%d statements, %d allowed and shown to the engine, %d wrong: %v", total, allowed, wrong, opinions)
}

// TestHeldStatementsOfTheEngine judges statements that others wrote, which KTX_DUCKDB_HELD
// names. None that is allowed may be anything but one read to the engine, or what it does not
// run. Of those that are one read it counts the refused ones by their source and code.
func TestHeldStatementsOfTheEngine(t *testing.T) {
	statements := dialecttest.Held(t, "KTX_DUCKDB_HELD")
	if len(statements) == 0 {
		t.Skip("KTX_DUCKDB_HELD names no statements")
	}
	o := newOracle(t)
	dialecttest.JudgeHeld(t, statements, duckdb.Dialect{}, func(sql string) (fault string, read bool) {
		opinion := o.opinion(sql)
		if opinion != oneRead && opinion != notRead && opinion != faulty && opinion != unbound {
			fault = opinion
		}
		return fault, opinion == oneRead || o.parsed(sql) == oneRead
	})
}
