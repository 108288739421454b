package oracle_test

import (
	"database/sql"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// myQuery is one query that both sides run.
type myQuery struct {
	sql      string
	base     string // the type of the second column, if it is a column of a table
	declared string // the type that the product must show
	unread   bool   // the product's parser refuses the query
}

// lengths matches the brackets after the name of a type.
var lengths = regexp.MustCompile(`\(.*\)`)

// expressions compute values of other types from the column v.
var expressions = []string{
	"COALESCE(v, NULL)", "NULLIF(v, v)", "IF(id > 0, v, NULL)", "CASE WHEN id % 2 THEN v ELSE 'x' END", "IFNULL(v, 0)", "CONCAT(v, '')", "CONCAT('<', v, '>')", "v + 0", "-v", "v = v", "v IS NULL",
	"GREATEST(v, v)", "CAST(v AS CHAR)", "CAST(v AS BINARY)", "HEX(v)", "LENGTH(v)", "QUOTE(v)", "CONVERT(v USING latin1)", "LEAD(v) OVER (ORDER BY id)", "MAX(v) OVER (ORDER BY id)", "(SELECT v)", "JSON_ARRAY(v)", "ELT(1, v)",
	"BIT_OR(id) OVER ()", "TO_BASE64(v)", "MD5(v)",
}

// aggregates are computed from all values of a table.
var aggregates = []string{"COUNT(v)", "COUNT(DISTINCT v)", "MIN(v)", "MAX(v)", "SUM(v)", "AVG(v)", "STDDEV(v)", "GROUP_CONCAT(v ORDER BY id SEPARATOR '|')", "BIT_XOR(v)", "JSON_ARRAYAGG(v)"}

// mariadbTables makes a table of each type and returns the queries that read
// them.
func mariadbTables(t *testing.T, conn *sql.Conn, product string, r *rand.Rand, rows int) (out []myQuery) {
	t.Helper()
	made, refused := 0, 0
	add := func(format, table string, columns []string, q myQuery) {
		kept := computable(t, conn, format, table, columns)
		refused += len(columns) - len(kept)
		q.sql = fmt.Sprintf(format, strings.Join(kept, ", "), table)
		out = append(out, q)
	}
	for i, typ := range slices.Sorted(maps.Keys(mariadbValues)) {
		v := mariadbValues[typ]
		if v.products != "" && v.products != product {
			continue
		}
		table := fmt.Sprintf("t_%d", i)
		if !possible(t, conn, fmt.Sprintf("CREATE TABLE %s (id int PRIMARY KEY, v %s)", table, typ)) {
			if !newer[typ] {
				t.Errorf("the server cannot create a column of the type %s", typ)
			}
			continue
		}
		values := slices.Clone(v.edges)
		if v.random != nil {
			for range rows {
				values = append(values, v.random(r))
			}
		}
		write(t, conn, "INSERT INTO "+table+" VALUES (0, NULL)")
		stored := 1
		for id, value := range values {
			if possible(t, conn, fmt.Sprintf("INSERT INTO %s VALUES (%d, %s)", table, id+1, value)) {
				stored++
			} else if id < len(v.edges) {
				t.Errorf("the server does not store %s as %s", value, typ)
			}
		}
		if stored <= len(values)*2/3 {
			t.Errorf("%s: %d of %d values were stored", typ, stored-1, len(values))
		}
		base := column(t, conn, "SELECT DATA_TYPE FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = '"+table+"' AND COLUMN_NAME = 'v'")[0]
		declared := v.declared
		if product == "mariadb" && v.mariadb != "" {
			declared = v.mariadb
		}
		if product == "mysql" && geometries[typ] != nil {
			declared = "geometry" // the protocol has only this type
		}
		if declared == "" {
			declared = lengths.ReplaceAllString(typ, "")
		}
		add("SELECT id, %s FROM %s ORDER BY id", table, append([]string{"v"}, expressions...), myQuery{base: base, declared: declared})
		add("SELECT %s FROM %s", table, slices.Clone(aggregates), myQuery{})
		for _, format := range []string{
			"SELECT id, v FROM %s UNION ALL SELECT id, v FROM %[1]s ORDER BY id",
			"SELECT 1 AS o, id, v FROM %s UNION ALL SELECT 2, 0, 'x' ORDER BY o, id",
			"SELECT id, a.v, b.v AS v FROM %s AS a LEFT JOIN %[1]s AS b USING (id) WHERE a.id %% 3 = 0 ORDER BY id",
		} {
			if q := fmt.Sprintf(format, table); possible(t, conn, q) {
				out = append(out, myQuery{sql: q})
			} else {
				refused++
			}
		}
		made++
	}
	t.Logf("%d types; the server refuses to compute %d expressions of them", made, refused)
	return append(out, charsetTables(t, conn, r, rows)...)
}

// computable returns the columns that the server can compute from a table.
// Columns that it refuses, such as the sum of points, are not compared.
func computable(t *testing.T, conn *sql.Conn, format, table string, columns []string) (kept []string) {
	t.Helper()
	for _, c := range columns {
		if possible(t, conn, fmt.Sprintf(format, c, table)) {
			kept = append(kept, c)
		}
	}
	return kept
}

// newer are types that some versions of a product do not have.
var newer = map[string]bool{"inet4": true, "uuid": true, "vector(3)": true}

// charsetTables makes a table for each character set of the server.
func charsetTables(t *testing.T, conn *sql.Conn, r *rand.Rand, rows int) (out []myQuery) {
	t.Helper()
	for _, charset := range column(t, conn, "SELECT CHARACTER_SET_NAME FROM information_schema.CHARACTER_SETS WHERE CHARACTER_SET_NAME <> 'binary' ORDER BY 1") {
		table := "c_" + charset
		write(t, conn, fmt.Sprintf("CREATE TABLE %s (id int PRIMARY KEY AUTO_INCREMENT, v varchar(500) CHARACTER SET %[2]s, w text CHARACTER SET %[2]s, e enum('a', 'é') CHARACTER SET %[2]s)", table, charset))
		var values []string
		for b := range 256 { // every byte that is a character of the set
			values = append(values, fmt.Sprintf("CONVERT(x'41%02x' USING %s)", b, charset), fmt.Sprintf("CONVERT(x'%02x%02x' USING %s)", 0x80+r.IntN(0x80), b, charset))
		}
		for _, text := range myTexts {
			values = append(values, literal(text))
		}
		for range rows {
			values = append(values, literal(randomText(r)))
		}
		rows := make([]string, len(values))
		for i, value := range values {
			rows[i] = fmt.Sprintf("(%s, %[1]s, 1 + %d)", value, r.IntN(2))
		}
		// The server replaces or drops bytes that are no character of the set.
		write(t, conn, "INSERT IGNORE INTO "+table+" (v, w, e) VALUES "+strings.Join(rows, ", "))
		const format = "SELECT id, %s FROM %s ORDER BY id"
		columns := []string{"v", "w", "e", "CONCAT(v, w)", "CONCAT(v, 'é')", "UPPER(v)", "HEX(v)", "CAST(v AS BINARY)", "REVERSE(v)", "LEFT(v, 1)", "v = w"}
		out = append(out, myQuery{sql: fmt.Sprintf(format, strings.Join(computable(t, conn, format, table, columns), ", "), table)})
	}
	return out
}

// possible reports whether the server can run a query.
func possible(t *testing.T, conn *sql.Conn, text string) bool {
	t.Helper()
	_, err := conn.ExecContext(t.Context(), text)
	return err == nil
}

// mariadbTypes returns the types that a column of this server can have. It
// tries every keyword and plugin that can be the name of a type.
func mariadbTypes(t *testing.T, conn *sql.Conn) []string {
	t.Helper()
	words := column(t, conn, "SELECT LOWER(WORD) FROM information_schema.KEYWORDS WHERE WORD RLIKE '^[A-Za-z0-9_]+$'")
	words = append(words, column(t, conn, "SELECT LOWER(PLUGIN_NAME) FROM information_schema.PLUGINS WHERE PLUGIN_TYPE = 'DATA TYPE'")...)
	found := map[string]bool{}
	for _, word := range words {
		for _, form := range []string{"%s", "%s(1)", "%s('a')"} {
			if !possible(t, conn, fmt.Sprintf("CREATE TEMPORARY TABLE try_type (a "+form+" NULL)", word)) {
				continue
			}
			row := column(t, conn, "SELECT DATA_TYPE FROM information_schema.COLUMNS WHERE TABLE_NAME = 'try_type' UNION ALL SELECT 'none'")
			if row[0] == "none" { // older servers do not list temporary tables
				var typ, rest sql.NullString
				err := conn.QueryRowContext(t.Context(), "SHOW COLUMNS FROM try_type").Scan(&rest, &typ, &rest, &rest, &rest, &rest)
				if err != nil {
					t.Fatal(err)
				}
				row[0] = lengths.ReplaceAllString(typ.String, "")
			}
			base, _, _ := strings.Cut(row[0], " ")
			found[base] = true
			write(t, conn, "DROP TEMPORARY TABLE try_type")
			break
		}
	}
	if len(found) < 30 {
		t.Errorf("the server has %d types: %v", len(found), found)
	}
	return slices.Sorted(maps.Keys(found))
}
