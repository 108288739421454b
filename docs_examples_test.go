package ktx_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// examples runs the console blocks of a document in one folder and compares the
// output. It first writes the files whose content the document shows.
func (c *commandLine) examples(t *testing.T, d document) {
	t.Helper()
	dir := t.TempDir()
	for _, f := range d.fences {
		name := f.file()
		if name == "" || name == "ktx.yaml" {
			continue
		}
		target := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(target, []byte(f.text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	written, code := 0, 0
	for _, f := range d.fences {
		if f.info != "console" {
			continue
		}
		out.WriteString(d.text[written:f.start])
		for line := range strings.Lines(f.text) {
			command, ok := strings.CutPrefix(line, "$ ")
			if !ok {
				continue
			}
			out.WriteString(line)
			if strings.TrimSpace(command) == "echo $?" {
				fmt.Fprintln(&out, code)
				continue
			}
			var printed string
			printed, code = c.shell(t, dir, command)
			out.WriteString(printed)
			if printed != "" && !strings.HasSuffix(printed, "\n") {
				out.WriteByte('\n')
			}
		}
		written = f.end
	}
	out.WriteString(d.text[written:])
	if out.String() == d.text {
		return
	}
	if !*update {
		t.Errorf("%s shows other output than ktx prints; run make golden (-document +ktx):\n%s", d.path, cmp.Diff(d.text, out.String()))
		return
	}
	if err := os.WriteFile(filepath.FromSlash(d.path), out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// configurations validates every ktx.yaml in the documents.
func (c *commandLine) configurations(t *testing.T, all []document) {
	t.Helper()
	seen := 0
	for _, d := range all {
		for _, f := range d.fences {
			if f.file() != "ktx.yaml" {
				continue
			}
			seen++
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "ktx.yaml"), []byte(f.text), 0o644); err != nil {
				t.Fatal(err)
			}
			if out, code := c.shell(t, dir, "ktx config validate"); code != 0 || out != "ktx.yaml is valid\n" {
				t.Errorf("%s:%d: %s", d.path, f.line, out)
			}
		}
	}
	if seen == 0 {
		t.Error("no document shows a ktx.yaml")
	}
}

// clientEntries compares the entries for MCP clients in the documents with those that
// ktx demo prints.
func (c *commandLine) clientEntries(t *testing.T) {
	t.Helper()
	var demo struct{ Client string }
	c.json(t, "ktx demo --json", &demo)
	for _, name := range []string{"README.md", "docs/mcp.md"} {
		d := readDocument(t, name)
		if !slices.ContainsFunc(d.fences, func(f fence) bool { return f.info == "json" && f.text == demo.Client+"\n" }) {
			t.Errorf("%s does not show the entry for MCP clients that ktx demo prints", name)
		}
	}
}

// roughEdges checks the statements on the pages of rough edges with the guard. The
// guard must refuse each statement with the code beside it, and allow the alternative.
func (c *commandLine) roughEdges(t *testing.T) {
	t.Helper()
	readers := map[string]string{"All dialects": "postgres", "PostgreSQL": "postgres", "SQLite": "sqlite", "SQL Server": "sqlserver", "ClickHouse": "clickhouse", "BigQuery": "bigquery"}
	judged := map[string]int{}
	for _, name := range []string{"docs/rough-edges.md", "docs/rough-edges-postgresql.md", "docs/rough-edges-engines.md", "docs/rough-edges-clickhouse.md", "docs/rough-edges-bigquery.md"} {
		part := ""
		for line := range strings.Lines(readDocument(t, name).text) {
			if title, ok := strings.CutPrefix(line, "## "); ok {
				part = strings.TrimSpace(title)
				continue
			}
			cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
			if readers[part] == "" || len(cells) != 4 || !strings.HasPrefix(cells[0], " `") {
				continue
			}
			dialect, refused, code := readers[part], codeOf(cells[0]), codeOf(cells[1])
			judged[part]++
			if got := c.verdict(t, dialect, refused); got != code {
				t.Errorf("%s: the guard says %q, and %s says %q", refused, got, name, code)
			}
			for _, m := range codeSpan.FindAllStringSubmatch(cells[3], -1) {
				if !strings.ContainsRune(m[1], ' ') {
					continue // a key, not a statement
				}
				if got := c.verdict(t, dialect, m[1]); got != "" {
					t.Errorf("%s: the guard says %q, and %s recommends it", m[1], got, name)
				}
			}
		}
	}
	for part := range readers {
		if judged[part] == 0 {
			t.Errorf("no statement was found under %s", part)
		}
	}
}

func codeOf(cell string) string {
	if m := codeSpan.FindStringSubmatch(cell); m != nil {
		return m[1]
	}
	return ""
}

// verdict returns the code of the guard's verdict, or "" when it allows the statement.
func (c *commandLine) verdict(t *testing.T, dialect, sql string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "one.sql")
	if err := os.WriteFile(file, []byte(sql), 0o644); err != nil {
		t.Fatal(err)
	}
	strict := "check: {parameters: refuse}\n" // as the gateway judges, which gets no values
	if err := os.WriteFile(filepath.Join(filepath.Dir(file), "ktx.yaml"), []byte(strict), 0o644); err != nil {
		t.Fatal(err)
	}
	out, exit := c.shell(t, filepath.Dir(file), "ktx sql check --json --dialect "+dialect+" one.sql")
	var checked struct {
		Files []struct{ Statements []struct{ Code string } }
	}
	if err := json.Unmarshal([]byte(out[:strings.LastIndex(out, "}")+1]), &checked); err != nil || exit > 1 {
		t.Fatalf("%s: exit code %d, %v\n%s", sql, exit, err, out)
	}
	if len(checked.Files) != 1 || len(checked.Files[0].Statements) != 1 {
		t.Fatalf("%s: not one statement\n%s", sql, out)
	}
	return checked.Files[0].Statements[0].Code
}
