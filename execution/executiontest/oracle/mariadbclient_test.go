package oracle_test

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
)

// A field is a column of a result as the client describes it.
type field struct {
	name      string
	typ       string // the type in the protocol, such as VAR_STRING
	extended  string // type=… or format=… of a MariaDB
	collation string
	length    string
	flags     string
}

// bytes reports whether the column holds bytes and not text.
func (f field) bytes() bool {
	switch {
	case f.typ == "BIT" || f.typ == "GEOMETRY":
		return true
	case f.typ == "?-unknown-?":
		return len(f.length) <= len("65532") // MySQL: a VECTOR has a bounded length; JSON has any length, and its type is unknown to this client too
	case strings.HasSuffix(f.typ, "STRING"), strings.HasSuffix(f.typ, "BLOB"):
		return f.collation == "binary" && (f.extended == "" || f.extended == "type=vector")
	default:
		return false
	}
}

// printed is the output of the client for one query.
type printed struct {
	fields []field
	rows   [][]cell
}

// mariadb runs queries, each on its own, in one session with the settings that
// the product pins. It returns what the client prints for each.
//
// The client runs three times. Its batch format escapes the bytes that separate
// fields and rows, so no byte is lost, but it prints NULL like the string NULL.
// Its XML marks NULL, but turns zero bytes into spaces. Its descriptions of
// columns come without rows.
func mariadb(t *testing.T, server *testdb.MariaDBServer, user, password, database string, queries []string) []printed {
	t.Helper()
	const settings = "SET NAMES utf8mb4, SESSION time_zone = '+00:00', sql_mode = 'ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION'"
	out := make([]printed, len(queries))
	run := func(set, separator string, args ...string) []string {
		end, delimiter := "end "+rand.Text(), rand.Text()[:12] // the client reads at most 15 characters of a delimiter
		var script strings.Builder
		script.WriteString("delimiter " + delimiter + "\n" + settings + delimiter + "\n" + set + delimiter + "\n")
		for _, sql := range queries {
			script.WriteString(sql + "\n" + delimiter + "\nSELECT '" + end + "' AS `" + end + "`" + delimiter + "\n")
		}
		args = append([]string{
			"--no-defaults", "--socket=" + server.Socket(), "--user=" + user, "--database=" + database,
			"--default-character-set=utf8mb4", "--max-allowed-packet=1G", "--binary-mode",
		}, args...)
		cmd := exec.CommandContext(t.Context(), testdb.Tool(t, "mariadb"), args...)
		cmd.Env = []string{"MYSQL_PWD=" + password, "LC_ALL=C"}
		cmd.Stdin = strings.NewReader(script.String())
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		if err := cmd.Run(); err != nil {
			t.Fatalf("mariadb: %v: %.2000s", err, stderr.Bytes())
		}
		parts := regexp.MustCompile(strings.ReplaceAll(separator, "END", end)).Split(stdout.String(), -1)
		if len(parts) != len(queries)+1 {
			t.Fatalf("mariadb answered %d of %d queries: %.2000s", len(parts)-1, len(queries), stderr.Bytes())
		}
		return parts[:len(queries)]
	}
	described := run("SET sql_select_limit = 0", "Field +1:  `END`", "--table", "--column-type-info")
	marked := run("SET sql_select_limit = 18446744073709551615", `(?s)<resultset statement="[^"]*END[^"]*".*?</resultset>`, "--xml")
	escaped := run("SET sql_select_limit = 18446744073709551615", "END\n", "--batch", "--skip-column-names")
	for i, sql := range queries {
		out[i].fields = fields(described[i])
		rows, err := cells(escaped[i], nulls(marked[i]), out[i].fields)
		if err != nil {
			t.Fatalf("%.200s: mariadb: %v", sql, err)
		}
		out[i].rows = rows
	}
	return out
}

var description = regexp.MustCompile("(?s)Field +[0-9]+:  `(.*?)`\nOrg_field:.*?\nType: +(\\S+)(?: \\(([^)]*)\\))?\nCollation: +(\\S+) .*?\nLength: +([0-9]+)\n.*?\nFlags: +([^\n]*)\n")

// fields reads the client's description of a result's columns.
func fields(text string) (out []field) {
	for _, m := range description.FindAllStringSubmatch(text, -1) {
		out = append(out, field{name: m[1], typ: m[2], extended: m[3], collation: m[4], length: m[5], flags: m[6]})
	}
	return out
}

var xmlField = regexp.MustCompile(`<field name="[^"]*"( xsi:nil="true" />)?`)

// nulls returns for each value whether it is NULL.
func nulls(xml string) (out []bool) {
	for _, m := range xmlField.FindAllStringSubmatch(xml, -1) {
		out = append(out, m[1] != "")
	}
	return out
}

// cells reads the client's batch format.
func cells(text string, null []bool, columns []field) ([][]cell, error) {
	var rows [][]cell
	unescape := strings.NewReplacer(`\\`, `\`, `\0`, "\x00", `\t`, "\t", `\n`, "\n")
	n := 0
	for line := range strings.Lines(text) {
		values := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(values) != len(columns) || n+len(values) > len(null) {
			return nil, fmt.Errorf("a row of %d values for %d columns and %d marks", len(values), len(columns), len(null)-n)
		}
		row := make([]cell, len(values))
		for i, v := range values {
			v = unescape.Replace(v)
			switch {
			case null[n]:
				if v != "NULL" {
					return nil, fmt.Errorf("NULL is printed as %q", v)
				}
			case columns[i].bytes() || !utf8.ValidString(v):
				row[i] = cell{'s', execution.HexText([]byte(v))}
			default:
				row[i] = cell{'s', v}
			}
			n++
		}
		rows = append(rows, row)
	}
	if n != len(null) {
		return nil, fmt.Errorf("%d values and %d marks", n, len(null))
	}
	return rows, nil
}
