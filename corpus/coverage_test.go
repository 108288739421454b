package corpus_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/corpus"
)

// uncovered are the codes that no text alone can cause, each with the reason.
var uncovered = map[string]string{
	"unsupported_dialect":   "needs a dialect that no reader exists for",
	"session_mode_mismatch": "needs a server with another session",
	"unresolved_object":     "needs a catalogue or a policy with rules for columns",
	"internal_error":        "needs a fault of the guard",
}

// TestEveryCodeHasCases checks that every code that the guard can give is the
// main code of a case.
func TestEveryCodeHasCases(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/evidence/codes.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| guard \\|").FindAllSubmatch(page, -1)
	if len(rows) < 40 {
		t.Fatalf("docs/evidence/codes.md lists %d codes of the guard", len(rows))
	}
	main := map[string]bool{}
	for _, c := range embedded(t) {
		if len(c.Codes) > 0 {
			main[c.Codes[0]] = true
		}
	}
	for _, row := range rows {
		if code := string(row[1]); main[code] == (uncovered[code] != "") {
			t.Errorf("%s: has cases: %t; reason for having none: %q", code, main[code], uncovered[code])
		}
	}
}

// absent are the classes without cases in a dialect, because its servers have
// no such construct.
var absent = map[string]map[string]string{
	"postgres": {
		"attach": "a session has one database",
		"pragma": "is of SQLite",
	},
	"mysql": {
		"operator": "operators cannot be made",
		"attach":   "all databases are the server's",
		"pragma":   "is of SQLite",
	},
	"sqlserver": {
		"operator": "operators cannot be made",
		"attach":   "CREATE DATABASE FOR ATTACH is among ddl",
		"pragma":   "is of SQLite",
		"explain":  "there is no EXPLAIN; SET SHOWPLAN is among session-change",
	},
	"sqlite": {
		"select-into":    "there is no INTO; CREATE TABLE AS is among ddl",
		"locking":        "rows are not locked; BEGIN IMMEDIATE is among transaction-control",
		"privilege":      "there are no roles",
		"session-change": "settings are PRAGMAs",
		"procedural":     "there are no procedures",
		"dynamic-sql":    "no text of SQL can be run; eval() is among side-effect-function",
		"copy":           "files are read by functions, and by commands of the client",
		"operator":       "operators cannot be made",
		"setting":        "settings are PRAGMAs",
	},
	"bigquery": {
		"locking":  "rows are not locked",
		"attach":   "all data sets are the service's",
		"pragma":   "is of SQLite",
		"operator": "operators cannot be made",
	},
	"clickhouse": {
		"locking":    "rows are not locked",
		"procedural": "there are no procedures",
		"attach":     "ATTACH is among ddl",
		"pragma":     "is of SQLite",
		"operator":   "operators cannot be made",
	},
	"duckdb": {
		"select-into": "there is no INTO; COPY is among copy",
		"locking":     "rows are not locked",
		"privilege":   "there are no roles",
		"procedural":  "there are no procedures; CALL is among session-change",
		"operator":    "operators cannot be made",
	},
}

// TestEveryClassHasCases checks that a dialect has cases of every class, or a
// reason not to.
func TestEveryClassHasCases(t *testing.T) {
	t.Parallel()
	has := map[string]bool{}
	for _, c := range embedded(t) {
		has[c.Dialect+" "+c.Class] = true
	}
	for dialect, reasons := range absent {
		for _, class := range corpus.Classes() {
			if has[dialect+" "+class.Name] == (reasons[class.Name] != "") {
				t.Errorf("%s %s: has cases: %t; reason for having none: %q", dialect, class.Name, has[dialect+" "+class.Name], reasons[class.Name])
			}
		}
	}
}

// unproven are the cases that no engine has run, each with the reason.
var unproven = map[string]string{
	"KTX-PG-UNL-0007":   "would take more memory than a test may",
	"KTX-LITE-ATT-0005": "would write a file that could not be found again",
	"KTX-MY-PRC-0010":   "is of MySQL 5.7, of which there is no package",
	"KTX-MY-FN-0032":    "is of MySQL 5.7, of which there is no package",
	"KTX-MY-FN-0045":    "is of Aurora MySQL, which its cloud alone has",
	"KTX-MY-FN-0046":    "is of Aurora MySQL, which its cloud alone has",
	"KTX-MY-FN-0047":    "is of TiDB, which ktx-prove does not start",
	"KTX-MY-FN-0048":    "is of TiDB, which ktx-prove does not start",
}

// withoutEngine are the dialects of which no engine can be had here.
var withoutEngine = map[string]bool{"sqlserver": true, "bigquery": true}

// TestEveryRefusalHasEvidence checks that each case that must be refused was
// run on an engine as both roles, without and with a read-only transaction, or
// is listed as not run; that an engine showed what it does, or not_shown says why none did;
// and that only the cases of a dialect without an engine have documents instead. It also checks that evidence uses only the values that
// INTERPRETING.md explains.
func TestEveryRefusalHasEvidence(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("INTERPRETING.md")
	if err != nil {
		t.Fatal(err)
	}
	explained := func(c corpus.Case, word string) {
		if !strings.Contains(string(text), "`"+word+"`") {
			t.Errorf("%s: INTERPRETING.md does not explain %s", c.ID, word)
		}
	}
	for _, c := range embedded(t) {
		attempts := map[string]int{}
		documents := 0
		for _, e := range c.Evidence {
			if e.Engine == "" {
				documents++
				continue
			}
			roles, transactions := strings.Split(e.Role, ", "), strings.Split(e.Tx, ", ")
			attempts[e.Engine+" "+e.Version] += len(roles) * len(transactions)
			for _, word := range slices.Concat(roles, transactions) {
				explained(c, word)
			}
			outcome, code, failed := strings.Cut(e.Outcome, " ")
			explained(c, outcome)
			if failed != (outcome == "failed") || failed && code == "" {
				t.Errorf("%s: %q is no outcome", c.ID, e.Outcome)
			}
			for seen := range strings.SplitSeq(e.Probe, "; ") {
				if kind, _, _ := strings.Cut(seen, " "); kind != "" {
					explained(c, kind)
				}
			}
		}
		for version, n := range attempts {
			if n != 4 {
				t.Errorf("%s: %d attempts on %s; there must be four", c.ID, n, version)
			}
		}
		if documents > 0 && !withoutEngine[c.Dialect] || len(attempts) > 0 && withoutEngine[c.Dialect] {
			t.Errorf("%s: %d documents and %d engines as evidence", c.ID, documents, len(attempts))
		}
		if c.NotShown != nil {
			explained(c, c.NotShown.Kind)
		}
		switch reason := unproven[c.ID]; {
		case c.Expect != corpus.Reject:
		case withoutEngine[c.Dialect]:
			if documents == 0 {
				t.Errorf("%s: no document", c.ID)
			}
		case c.Shown() == (c.NotShown != nil):
			t.Errorf("%s: an engine has shown what it does: %t; reason for not: %v", c.ID, c.Shown(), c.NotShown)
		case (len(attempts) > 0) == (reason != ""):
			t.Errorf("%s: seen on %d engines; reason for not being: %q", c.ID, len(attempts), reason)
		}
	}
}
