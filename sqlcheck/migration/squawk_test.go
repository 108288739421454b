package migration_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/dialects"
	"github.com/ktxhq/ktx/sqlcheck/migration"
	"github.com/ktxhq/ktx/sqlguard"
)

var update = flag.Bool("update", false, "write docs/migrations.md, and with KTX_TEST_SQUAWK and KTX_TEST_DOCUMENSO the counts, too")

const (
	comparison = "testdata/squawk.json"
	page       = "../../docs/migrations.md"
)

// compared is what squawk and the rules find in the migrations of documenso.
type compared struct {
	Squawk    string         `json:"squawk"`
	Documenso string         `json:"documenso"` // the commit
	Files     int            `json:"files"`
	Rules     []*comparedRow `json:"rules"`
}

type comparedRow struct {
	Rule     string `json:"rule"`
	Findings int    `json:"findings"`
	Same     int    `json:"same"`       // with one of the codes on the same statement
	Lock     int    `json:"other_lock"` // a foreign key of a new table, which locks an old one
	New      int    `json:"new_table"`
	Other    int    `json:"other"`
}

// explained says for each rule of squawk what the profile has in its place.
var explained = []struct {
	rule, codes string
	sql         string // a text that the rule finds
	note        string // why there is nothing, or what differs
	other       string // why there is nothing for those of Other
}{
	{"require-concurrent-index-creation", "index_blocks_writes", "CREATE INDEX i ON t (a)", "", ""},
	{"require-concurrent-index-deletion", "index_drop_blocks", "DROP INDEX i", "", ""},
	{"constraint-missing-not-valid", "constraint_scans index_blocks_writes", "ALTER TABLE t ADD CONSTRAINT c CHECK (a > 0)", "", ""},
	{"adding-foreign-key-constraint", "constraint_scans", "ALTER TABLE t ADD CONSTRAINT c FOREIGN KEY (a) REFERENCES u (id)", "one finding instead of two", ""},
	{"adding-not-nullable-field", "not_null_scans", "ALTER TABLE t ALTER COLUMN a SET NOT NULL", "none after a valid CHECK", ""},
	{"adding-required-field", "column_required", "ALTER TABLE t ADD COLUMN a int NOT NULL", "", ""},
	{"adding-field-with-default", "", "ALTER TABLE t ADD COLUMN a int NOT NULL DEFAULT -1", "a constant default rewrites nothing since PostgreSQL 11. Calls that differ by row are `migration_rewrites_table`", ""},
	{"adding-serial-primary-key-field", "rewrites_table index_blocks_writes", "ALTER TABLE t ADD COLUMN id serial PRIMARY KEY", "", ""},
	{"changing-column-type", "rewrites_table", "ALTER TABLE t ALTER COLUMN a TYPE bigint", "", ""},
	{"ban-drop-column", "breaks_programs", "ALTER TABLE t DROP COLUMN a", "", ""},
	{"ban-drop-table", "breaks_programs", "DROP TABLE t", "", ""},
	{"require-lock-timeout", "no_lock_timeout", "ALTER TABLE t ADD COLUMN a int", "one a file, also for indexes", "the file locks no existing table"},
	{"require-statement-timeout", "", "SET lock_timeout = '5s'; ALTER TABLE t ADD COLUMN a int", "a limit of the statement ends long work that blocks nobody, such as a concurrent index", ""},
	{"ban-drop-not-null", "", "ALTER TABLE t ALTER COLUMN a DROP NOT NULL", "it takes a moment, and programs that write go on; readers meet NULL only when a new program writes it", ""},
	{"require-enum-value-ordering", "", "ALTER TYPE e ADD VALUE 'x'", "the order of values is no matter of a running system", ""},
	{"prefer-robust-stmts", "", "CREATE TABLE t (id bigint)", "IF NOT EXISTS also hides that the object is another one; a tool that records migrations runs each once", ""},
	{"prefer-bigint-over-int", "", "CREATE TABLE t (id int)", style, ""},
	{"prefer-timestamp-tz", "", "CREATE TABLE t (a timestamp)", style, ""},
	{"prefer-identity", "", "CREATE TABLE t (id serial)", style, ""},
	{"prefer-text-field", "", "CREATE TABLE t (a varchar(10))", style, ""},

	{"renaming-column", "breaks_programs", "ALTER TABLE t RENAME COLUMN a TO b", "", ""},
	{"renaming-table", "breaks_programs", "ALTER TABLE t RENAME TO u", "", ""},
	{"disallowed-unique-constraint", "index_blocks_writes", "ALTER TABLE t ADD CONSTRAINT c UNIQUE (a)", "", ""},
	{"adding-primary-key-constraint", "index_blocks_writes", "ALTER TABLE t ADD PRIMARY KEY (id)", "", ""},
	{"require-concurrent-reindex", "index_blocks_writes", "REINDEX INDEX i", "", ""},
	{"require-concurrent-partition-detach", "blocks_writes", "ALTER TABLE t DETACH PARTITION p", "", ""},
	{"ban-drop-database", "data_loss", "DROP DATABASE d", "", ""},
	{"ban-truncate-cascade", "data_loss", "TRUNCATE t CASCADE", "here every TRUNCATE", ""},
	{"ban-concurrent-index-creation-in-transaction", "in_transaction", "BEGIN; CREATE INDEX CONCURRENTLY i ON t (a); COMMIT", "", ""},
	{"ban-alter-domain-with-add-constraint", "constraint_scans", "ALTER DOMAIN d ADD CONSTRAINT c CHECK (VALUE > 0)", "", ""},
	{"prefer-repack", "rewrites_table", "VACUUM FULL t", "", ""},
	{"ban-char-field", "", "CREATE TABLE t (a char(10))", "", ""},
	{"ban-create-domain-with-constraint", "", "CREATE DOMAIN d AS int CHECK (VALUE > 0)", "", ""},
	{"ban-duplicate-column-assignments", "", "UPDATE t SET a = 1, a = 2 WHERE id = 1", "", ""},
	{"ban-uncommitted-transaction", "", "BEGIN; SELECT 1", "", ""},
	{"identifier-too-long", "", "CREATE TABLE t (a int)", "", ""},
	{"prefer-bigint-over-smallint", "", "CREATE TABLE t (id smallint)", "", ""},
	{"require-table-schema", "", "CREATE TABLE t (a int)", "", ""},
	{"transaction-nesting", "", "BEGIN; BEGIN; COMMIT", "", ""},
}

const style = "style of new columns"

// TestSquawkPage: docs/migrations.md has the table that the counts and the
// explanations make, and the rules find in each text what the table says.
func TestSquawkPage(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(comparison)
	if err != nil {
		t.Fatal(err)
	}
	var c compared
	if err := json.Unmarshal(text, &c); err != nil {
		t.Fatal(err)
	}
	if program, tree := os.Getenv("KTX_TEST_SQUAWK"), os.Getenv("KTX_TEST_DOCUMENSO"); program != "" && tree != "" {
		counted := compare(t, program, tree)
		if *update {
			out, err := json.MarshalIndent(counted, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(comparison, append(out, '\n'), 0o644); err != nil {
				t.Fatal(err)
			}
			c = counted
		}
		if diff := cmp.Diff(c, counted); diff != "" {
			t.Errorf("the counts changed; -update writes them (-recorded +now):\n%s", diff)
		}
	}
	for _, e := range explained {
		got := read(t, "postgres", e.sql, migration.Options{}, strings.Contains(e.codes, "no_lock_timeout"))
		if want := strings.Fields(e.codes); len(want) == 0 && len(got) > 0 || len(want) > 0 && !slices.ContainsFunc(got, func(code string) bool { return slices.Contains(want, code) }) {
			t.Errorf("%s: %s has %v, the table says %v", e.rule, e.sql, got, want)
		}
	}
	old, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- squawk: begin -->\n", "<!-- squawk: end -->\n"
	before, rest, ok := strings.Cut(string(old), begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has no place for the table", page)
	}
	made := before + begin + table(t, c) + end + after
	if made == string(old) {
		return
	}
	if *update {
		if err := os.WriteFile(page, []byte(made), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Errorf("%s differs; -update writes it:\n%s", page, cmp.Diff(string(old), made))
}

// table renders the comparison.
func table(t *testing.T, c compared) string {
	t.Helper()
	var b, others strings.Builder
	fmt.Fprintf(&b, "[squawk](https://squawkhq.com) %s checks migrations for PostgreSQL. On the %d migrations of documenso (%.8s) it finds these; *new table*: on a table that the same file creates.\n\n", c.Squawk, c.Files, c.Documenso)
	b.WriteString("| squawk | findings | in ktx | |\n|---|---|---|---|\n")
	rows := map[string]*comparedRow{}
	for _, r := range c.Rules {
		rows[r.Rule] = r
	}
	var styles, without []string
	styled := 0
	byCode := map[string][]string{}
	var order []string
	for _, e := range explained {
		r := rows[e.rule]
		delete(rows, e.rule)
		codes := strings.Fields(e.codes)
		for i, code := range codes {
			codes[i] = "`migration_" + code + "`"
		}
		here := strings.Join(codes, ", ")
		switch {
		case r == nil && here == "":
			without = append(without, "`"+e.rule+"`")
		case r == nil:
			if byCode[here] == nil {
				order = append(order, here)
			}
			name := "`" + e.rule + "`"
			if e.note != "" {
				name += " (" + e.note + ")"
			}
			byCode[here] = append(byCode[here], name)
		case e.note == style:
			styles, styled = append(styles, e.rule), styled+r.Findings
		case here == "":
			fmt.Fprintf(&b, "| %s | %d | – | none: %s |\n", e.rule, r.Findings, e.note)
		default:
			fmt.Fprintf(&b, "| %s | %d | %s | %s |\n", e.rule, r.Findings, here, r.verdict(t, e.note, e.other))
		}
	}
	for rule := range rows {
		t.Errorf("squawk's rule %s is not explained", rule)
	}
	fmt.Fprintf(&b, "| %s | %d | – | none: %s |\n", strings.Join(styles, ", "), styled, style)
	for _, code := range order {
		fmt.Fprintf(&others, " %s: %s.", code, strings.Join(byCode[code], ", "))
	}
	fmt.Fprintf(&b, "\nIts other rules:%s `parse_error`: `syntax-error`. Deliberately nothing: %s; they are style, or the server refuses or warns.\n", others.String(), strings.Join(without, ", "))
	return b.String()
}

func (r *comparedRow) verdict(t *testing.T, note, other string) string {
	t.Helper()
	text := "same"
	if r.Same < r.Findings {
		text = fmt.Sprintf("same for %d", r.Same)
	}
	if r.Lock > 0 {
		text += fmt.Sprintf("; for %d on a new table the lock of the old one only", r.Lock)
	}
	if r.New > 0 {
		text += fmt.Sprintf("; none for %d on a new table", r.New)
	}
	if r.Other > 0 {
		if other == "" {
			t.Errorf("%s: nothing explains why %d findings have no equal", r.Rule, r.Other)
		}
		text += fmt.Sprintf("; none for %d: %s", r.Other, other)
	}
	if note != "" {
		text += "; " + note
	}
	return text
}

var (
	altered   = regexp.MustCompile(`(?i)(?:alter\s+table|\bon|drop\s+table|create\s+table)\s+(?:only\s+|if\s+(?:not\s+)?exists\s+)*("?\w+"?)`)
	created   = regexp.MustCompile(`(?i)create\s+table\s+(?:if\s+not\s+exists\s+)?("?\w+"?)`)
	refers    = regexp.MustCompile(`(?i)references\s+("?\w+"?)`)
	atVersion = regexp.MustCompile(`\d+\.\d+\.\d+`)
)

// compare counts the findings of squawk in the migrations of a tree of documenso by
// what the rules find on the same statement.
func compare(t *testing.T, program, tree string) compared {
	t.Helper()
	run := func(name string, args ...string) string {
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Dir = tree
		out, err := cmd.Output()
		if len(out) == 0 {
			t.Fatalf("%s: %v", name, err)
		}
		return string(out)
	}
	files, err := filepath.Glob(filepath.Join(tree, "packages/prisma/migrations/*/migration.sql"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no migrations in %s, %v", tree, err)
	}
	c := compared{Squawk: atVersion.FindString(run(program, "--version")), Documenso: strings.TrimSpace(run("git", "rev-parse", "HEAD")), Files: len(files)}
	var findings []struct {
		File         string
		Line, Column int    // from 0
		Rule         string `json:"rule_name"`
	}
	if err := json.Unmarshal([]byte(run(program, append([]string{"--reporter", "json"}, files...)...)), &findings); err != nil {
		t.Fatal(err)
	}
	d, _ := dialects.Lookup("postgres")
	type judged struct {
		span  sqlguard.Span
		codes []string
	}
	texts, all := map[string]string{}, map[string][]judged{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		texts[file] = string(text)
		r := migration.NewReader(d, migration.Options{})
		for _, span := range sqlguard.Split(d, string(text)) {
			one := judged{span: span}
			sql := string(text)[span.Start:span.End]
			for _, f := range r.Statement(sql, d.Lex(sql).List) {
				one.codes = append(one.codes, strings.TrimPrefix(string(f.Code), "migration_"))
			}
			all[file] = append(all[file], one)
		}
	}
	for _, f := range findings {
		i := slices.IndexFunc(c.Rules, func(r *comparedRow) bool { return r.Rule == f.Rule })
		if i < 0 {
			i = len(c.Rules)
			c.Rules = append(c.Rules, &comparedRow{Rule: f.Rule})
		}
		row := c.Rules[i]
		row.Findings++
		text, at := texts[f.File], 0
		for range f.Line {
			at += strings.IndexByte(text[at:], '\n') + 1
		}
		at += f.Column
		var statement string
		var codes, whole []string
		for _, s := range all[f.File] {
			whole = append(whole, s.codes...)
			if s.span.Start <= at+1 && at < s.span.End {
				statement, codes = text[s.span.Start:s.span.End], s.codes
			}
		}
		if f.Rule == "require-lock-timeout" {
			codes = whole
		}
		wanted := ""
		for _, e := range explained {
			if e.rule == f.Rule {
				wanted = e.codes
			}
		}
		isNew := func(name string) bool {
			return slices.ContainsFunc(created.FindAllStringSubmatch(text, -1), func(m []string) bool { return m[1] == name })
		}
		table, other := altered.FindStringSubmatch(statement), refers.FindStringSubmatch(statement)
		switch {
		case slices.ContainsFunc(codes, func(code string) bool { return slices.Contains(strings.Fields(wanted), code) }):
			row.Same++
		case table != nil && isNew(table[1]) && other != nil && !isNew(other[1]) && slices.Contains(whole, "no_lock_timeout"):
			row.Lock++
		case table != nil && isNew(table[1]):
			row.New++
		default:
			row.Other++
		}
	}
	slices.SortFunc(c.Rules, func(a, b *comparedRow) int { return strings.Compare(a.Rule, b.Rule) })
	return c
}
