package ktx_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// codeTable renders every code, as the binary lists them.
func (c *commandLine) codeTable(t *testing.T) string {
	t.Helper()
	var list struct {
		Codes []struct {
			Code, Family, Title, Summary string
			Retryable                    bool
		}
	}
	c.json(t, "ktx explain --json", &list)
	out := tableHead("code", "family", "title", "summary", "retry")
	for _, code := range list.Codes {
		retry := ""
		if code.Retryable {
			retry = "yes"
		}
		out += row("`"+code.Code+"`", code.Family, code.Title, code.Summary, retry)
	}
	return out
}

// codePages renders what ktx explain says of each code, but for the cases of the
// corpus, which grow.
func (c *commandLine) codePages(t *testing.T) string {
	t.Helper()
	var list struct{ Codes []struct{ Code string } }
	c.json(t, "ktx explain --json", &list)
	var out strings.Builder
	for _, code := range list.Codes {
		var one struct{ Page string }
		c.json(t, "ktx explain "+code.Code+" --json", &one)
		page, _, _ := strings.Cut(one.Page, "\n## Cases\n")
		fenced := false
		for line := range strings.Lines(page) {
			if strings.HasPrefix(line, "```") {
				fenced = !fenced
			}
			if !fenced && strings.HasPrefix(line, "#") {
				line = "#" + line
			}
			out.WriteString(line)
		}
		out.WriteString("\n")
	}
	return out.String()
}

// schemaNode is what the tables need of a JSON Schema.
type schemaNode struct {
	Type                 any
	Description, Pattern string
	Enum                 []any
	Minimum, Maximum     *int64
	Default              any
	Properties           map[string]*schemaNode
	AdditionalProperties json.RawMessage
	Items                *schemaNode
	Required             []string
}

// keyTable renders every key of ktx.yaml, as the binary's schema has them.
func (c *commandLine) keyTable(t *testing.T) string {
	t.Helper()
	var root schemaNode
	c.json(t, "ktx config schema", &root)
	out := tableHead("key", "value", "what it is")
	var walk func(path string, n *schemaNode)
	walk = func(path string, n *schemaNode) {
		if path != "" && n.Description != "" && len(n.Properties) == 0 {
			out += row("`"+path+"`", n.value(), n.Description)
		}
		for _, key := range slices.Sorted(maps.Keys(n.Properties)) {
			walk(strings.TrimPrefix(path+"."+key, "."), n.Properties[key])
		}
		var element schemaNode
		if json.Unmarshal(n.AdditionalProperties, &element) == nil && len(element.Properties) > 0 {
			walk(path+".ID", &element)
		}
		if n.Items != nil {
			walk(path+"[]", n.Items)
		}
	}
	walk("", &root)
	return out
}

// value says in words what a value is.
func (n *schemaNode) value() string {
	var allowed []string
	for _, v := range n.Enum {
		if v != nil {
			allowed = append(allowed, fmt.Sprintf("`%v`", v))
		}
	}
	if len(allowed) > 0 {
		return strings.Join(allowed, ", ")
	}
	types, _ := n.Type.([]any)
	kind, _ := n.Type.(string)
	if len(types) > 0 {
		kind, _ = types[0].(string)
	}
	switch {
	case kind == "":
		return "–"
	case kind == "string" && slices.Contains(types, any("integer")):
		kind = "size"
	case kind == "string" && strings.Contains(n.Pattern, "µs"):
		kind = "duration"
	case kind == "string":
		kind = "text"
	case kind == "array":
		kind = "list"
	case kind == "object":
		kind = "map"
	}
	if n.Minimum != nil && n.Maximum != nil {
		kind += fmt.Sprintf(", %d to %d", *n.Minimum, *n.Maximum)
	}
	return kind
}

// toolTables renders the arguments and answers of the MCP tools, from the list
// that clients get.
func toolTables(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("research/testdata/tools.golden.json")
	if err != nil {
		t.Fatal(err)
	}
	var tools []struct {
		Name, Title, Description  string
		InputSchema, OutputSchema schemaNode
	}
	if err := json.Unmarshal(text, &tools); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for _, tool := range tools {
		first, _, _ := strings.Cut(tool.Description, ". ")
		fmt.Fprintf(&out, "### %s\n\n%s.\n\n", tool.Name, strings.TrimSuffix(first, "."))
		for _, part := range []struct {
			title string
			node  *schemaNode
		}{{"argument", &tool.InputSchema}, {"answer", &tool.OutputSchema}} {
			if len(part.node.Properties) == 0 {
				continue
			}
			out.WriteString(tableHead(part.title, "value", "", "what it is"))
			for _, name := range slices.Sorted(maps.Keys(part.node.Properties)) {
				p := part.node.Properties[name]
				when := "optional"
				if slices.Contains(part.node.Required, name) {
					when = "always"
				}
				if p.Default != nil {
					when = fmt.Sprintf("default %v", p.Default)
				}
				value := p.value()
				if p.Minimum != nil && p.Maximum == nil {
					value += ", at least " + strconv.FormatInt(*p.Minimum, 10)
				}
				out.WriteString(row("`"+name+"`", value, when, p.Description))
			}
			out.WriteString("\n")
		}
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// readingOrder is the code in the order in which to read it.
var readingOrder = []struct {
	title    string
	patterns []string
	without  string // a regular expression over base names
	about    string
}{
	{"the judge", []string{"sqlguard/*.go"}, "", "`guard.go`, then `screen.go`, `judge.go`, `approve.go`. Standard library only"},
	{"the door", []string{"execution/*.go"}, "", "`gateway.go`: `call.run` is the whole path of a statement"},
	{"the reader of PostgreSQL", []string{"dialects/postgres/*.go"}, `^(functions_table|system_catalog_table|walk_gen_.*)\.go$`, "`nodes.go` is the table, `walk.go` the walk; without generated files"},
	{"its generated walkers", []string{"dialects/postgres/walk_gen_*.go"}, "", "two, one for each parser; visit every field of every kind"},
	{"its generated tables", []string{"dialects/postgres/functions_table.go", "dialects/postgres/system_catalog_table.go"}, "", "read `dialects/postgres/data/verdicts.md` instead"},
	{"the reader of SQLite", []string{"dialects/sqlite/*.go"}, "", "`walk.go`, and `complete.go` for what the parser may lose"},
	{"the reader of SQL Server", []string{"dialects/sqlserver/*.go"}, "", "`lex.go`, `statement.go`, `query.go`: a parser of its own, which states what it reads"},
	{"the backend of PostgreSQL", []string{"execution/pgdb/*.go"}, "", "`session.go`, `session_catalog.go` and `session_probe.go` have every constant text, `query.go` the order of messages"},
	{"the reader of MySQL and MariaDB", []string{"dialects/mysql/*.go"}, `^(functions_table|marino_.*)\.go$`, "`nodes.go` is the table, `walk.go` and `tidb_query.go` the walk, `ledger.go` and `complete.go` what the parsers may lose; without tables and the generated copy for the second parser"},
	{"the backend of MySQL and MariaDB", []string{"execution/mysqldb/*.go", "execution/mysqldb/wire/*.go"}, "", "`session.go` and its neighbours have every constant text, `query.go` the order of messages; the protocol behind the login lies below"},
	{"the backend of SQL Server", []string{"execution/mssqldb/*.go", "execution/mssqldb/internal/tds/*.go"}, "", "`session.go` and its neighbours have every constant text, `query.go` the batches of a statement; the wire lies below"},
	{"the backend of SQLite", []string{"execution/sqlitedb/*.go"}, "", "`session.go` has the switches and the authorizer"},
	{"the record", []string{"execution/audit/*.go"}, "", "`event.go` for what is kept, `chain.go` and `verify.go` for the chain"},
	{"the MCP tools", []string{"research/*.go"}, "", "`mcp.go`, `sql_execution.go`"},
	{"the check of files", []string{"sqlcheck/*.go", "sqlcheck/*/*.go"}, "", "`check.go`; `source` finds SQL in files of other languages, `report` prints"},
	{"the runs over the corpus", []string{"corpus/run/*.go", "corpus/report/*.go"}, "", "`run.go` puts the cases to a guard, `report.go` makes the page"},
	{"the command line", []string{"cmd/ktx/*.go", "cmd/ktx/internal/*/*.go", "cmd/ktx/internal/*/*/*.go"}, "", "`cmd/ktx/internal/cli/wiring/wire.go` joins engines to readers and backends"},
	{"the seal", []string{"arch_test.go", "seal_test.go", "module_test.go"}, "", "tests that hold the structure"},
}

var linesCell = regexp.MustCompile(`(?m)^\| (.*?) \| ([\d,]+) \|`)

// lineTable renders how long the code is, in hundreds of lines. A number in
// the document that is within a fifth of the truth is kept, so that not every
// change of the code is one of the document.
func lineTable(t *testing.T, document string) string {
	t.Helper()
	told := map[string]int{}
	for _, m := range linesCell.FindAllStringSubmatch(document, -1) {
		if n, err := strconv.Atoi(strings.ReplaceAll(m[2], ",", "")); err == nil {
			told[m[1]] = n
		}
	}
	out := tableHead("part", "lines", "what to read")
	for _, part := range readingOrder {
		lines := 0
		for _, pattern := range part.patterns {
			files, err := filepath.Glob(filepath.FromSlash(pattern))
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range files {
				base := filepath.Base(name)
				isTest := strings.HasSuffix(base, "_test.go") && filepath.Dir(name) != "."
				if isTest || part.without != "" && regexp.MustCompile(part.without).MatchString(base) {
					continue
				}
				text, err := os.ReadFile(name)
				if err != nil {
					t.Fatal(err)
				}
				lines += strings.Count(string(text), "\n")
			}
		}
		if lines == 0 {
			t.Errorf("%s has no lines", part.title)
		}
		title := part.title + ", `" + strings.Join(part.patterns, "`, `") + "`"
		rounded := max((lines+50)/100*100, 100)
		if n, ok := told[title]; ok && n*5 >= lines*4 && n*5 <= lines*6 {
			rounded = n
		}
		number := strconv.Itoa(rounded)
		if rounded >= 1000 {
			number = fmt.Sprintf("%d,%03d", rounded/1000, rounded%1000)
		}
		out += row(title, number, part.about)
	}
	return out
}

// importTable renders the shipped part of the import table.
func importTable() string {
	out := tableHead("package", "of ours", "of others")
	for _, r := range rooms {
		if r.support || r.path == "." {
			continue
		}
		own := slices.Clone(r.ours)
		for i, p := range own {
			own[i] = "`" + p + "`"
			if p == "..." {
				own[i] = "everything but test support"
			}
		}
		others := slices.Sorted(maps.Keys(r.others))
		for i, m := range others {
			others[i] = strings.TrimPrefix(m, "github.com/")
		}
		out += row("`"+r.path+"`", cmp.Or(strings.Join(own, ", "), "–"), cmp.Or(strings.Join(others, ", "), "–"))
	}
	return out
}
