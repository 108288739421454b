package research_test

import (
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"

	"github.com/ktxhq/ktx/research"
)

// payloads are texts that would change a statement if any of them reached it unparsed.
var payloads = []string{
	"'", `"`, "`", "[", "]", "''", `""`, "' OR 1=1 --", `" OR 1=1 --`, "` OR 1=1 --", "] OR 1=1 --", `\'; DROP TABLE canary; --`, `'; DELETE FROM canary; --`,
	`"; DELETE FROM canary; --`, "total); DELETE FROM canary; --", "total) FROM canary UNION SELECT (1", "orders, canary", "(SELECT secret FROM canary)", "canary.secret", "main.canary", "canary",
	"sum((SELECT secret FROM canary))", "total /* x */", "total -- x", "total # x", "$$x$$", "?", ":a", "@a", "$1", "load_extension('x')", "readfile('/etc/passwd')", "total\x00", "\x00",
	"total\u0000;", "\u02bc; DROP TABLE canary", "\uff07 OR 1=1", "\u2019 OR \u20191\u2019=\u20191", "total\u202e", "to\u200btal", "\u037e DROP TABLE canary", "total\u2028-- x", "total\r\n;", "E'\\'; DROP TABLE canary --'",
	"x'41'", "1e999", "9999999999999999999999999", "sum(total) OVER ()", "CASE WHEN 1 THEN 1", "total COLLATE nocase", "total::regclass", "CAST(total AS blob)", "PRAGMA writable_schema=1", "ATTACH 'x' AS y",
	"WITH c AS (SELECT * FROM canary) SELECT * FROM c", "SELECT secret AS id FROM canary; DELETE FROM canary", "DELETE FROM canary RETURNING id", "status = 'a' OR 'a' = 'a'", "total", "orders.total", "revenue", "orders.revenue", "sum(total)", "id", "month", "desc", "1", "",
}

const canaryData = salesData + "CREATE TABLE canary (id INTEGER PRIMARY KEY, secret TEXT); INSERT INTO canary VALUES (1, 'zq7 canary');"

// hostile draws a payload, two of them one after the other, or a text with one inside.
func hostile() *rapid.Generator[string] {
	one := rapid.SampledFrom(payloads)
	return rapid.OneOf(one, one, rapid.Map(rapid.SliceOfN(one, 2, 3), func(l []string) string { return strings.Join(l, "") }),
		rapid.Map(one, func(s string) string { return "orders." + s }), rapid.Map(one, func(s string) string { return "total + " + s }),
		rapid.Map(one, func(s string) string { return "sum(" + s + ")" }), rapid.Map(one, func(s string) string { return "status = '" + s + "'" }),
		rapid.Map(one, func(s string) string { return `"` + s + `"` }), rapid.String())
}

// either draws a good text mostly, so that a hostile one is not hidden behind another.
func either(t *rapid.T, label, good string) string {
	if rapid.IntRange(0, 15).Draw(t, label+"?") > 0 {
		return good
	}
	return hostile().Draw(t, label)
}

// TestSLInjection: whatever stands in a request or in a file, no other table is read,
// nothing is written, and the guard never refuses what the compiler wrote.
func TestSLInjection(t *testing.T) {
	dir := t.TempDir()
	salesProject(t, dir, "a")
	conn := databaseOf(t, "a", canaryData)
	logs := &lockedBuffer{}
	s := research.New(gatewayTo(t, conn), slog.New(slog.NewTextHandler(logs, nil)), storesIn(t, dir))
	ask := callerOf(t, s, analyst("ana", "a"))
	ran, refused := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		text := func(label, good string) string { return either(t, label, good) }
		file := map[string]any{
			"name": text("name", "extra"), "grain": []string{text("grain", "id")},
			"columns": []map[string]any{
				{"name": "id", "type": "number"}, {"name": text("column", "status"), "type": "string"}, {"name": "total", "type": "number"}, {"name": "customer_id", "type": "number"},
				{"name": text("computed", "twice"), "type": "number", "expr": text("expr", "total * 2")},
			},
			"joins":    []map[string]any{{"to": text("to", "customers"), "on": text("on", "customer_id = buyer.id"), "alias": text("alias", "buyer"), "relationship": "many_to_one"}},
			"measures": []map[string]any{{"name": text("measure", "amount"), "expr": text("sum", "sum(total)"), "filter": text("filter", "status = 'paid'")}},
			"segments": []map[string]any{{"name": text("segment", "good"), "expr": text("condition", "total > 1")}},
		}
		if rapid.Bool().Draw(t, "query") {
			file["sql"] = text("sql", "SELECT id, status, total, customer_id FROM main.orders")
		} else {
			file["table"] = text("table", "main.orders")
		}
		content, err := yaml.Marshal(file)
		if err != nil {
			t.Skip()
		}
		if err := os.WriteFile(filepath.Join(dir, "semantic-layer", "a", "extra.yaml"), content, 0o600); err != nil {
			t.Fatal(err)
		}
		source := "orders"
		measure, dimension := "revenue", "status"
		if rapid.Bool().Draw(t, "extra") {
			source, measure = "extra", "amount"
		}
		arguments, err := json.Marshal(map[string]any{
			"connectionId": "a", "include": []string{"sql"},
			"measures":   []any{text("m", source+"."+measure), map[string]string{"expr": text("e", "count("+source+".id)"), "name": text("n", "rows")}},
			"dimensions": []any{text("d", source+"."+dimension)},
			"filters":    []string{text("f", source+".id > 0")},
			"order_by":   []any{map[string]string{"field": text("o", "rows"), "direction": "desc"}},
		})
		if err != nil {
			t.Fatal(err)
		}
		answer := ask.answer("sl_query", string(arguments))
		body := strings.ReplaceAll(answer, string(arguments), "")
		switch {
		case strings.HasPrefix(answer, "error false: "):
			ran++
		default:
			refused++
		}
		if strings.Contains(body, "internal_error") || strings.Contains(body, "zq7 canary") && (file["table"] == "main.orders" || file["sql"] == "SELECT id, status, total, customer_id FROM main.orders") {
			t.Fatalf("%s\n%s\n%s\n%s", content, arguments, answer, logs)
		}
	})
	t.Logf("%d ran, %d were refused", ran, refused)
	if ran == 0 || refused == 0 {
		t.Error("the requests are all of one kind")
	}
	if got := ask.answer("sql_execution", `{"connectionId":"a","sql":"SELECT (SELECT count(*) FROM canary), (SELECT count(*) FROM orders), (SELECT count(*) FROM sqlite_schema WHERE type = 'table')"}`); !strings.Contains(got, "[[1,4,5]]") {
		t.Errorf("the database has changed: %s", got)
	}
}
