package research_test

import (
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"

	"github.com/ktxhq/ktx/corpus"
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

// either draws a good text mostly, so that a hostile one is not hidden behind another. Five
// fair draws decide: a range of numbers would give its ends much more often.
func either(t *rapid.T, label, good string) string {
	for range 5 {
		if !rapid.Bool().Draw(t, label+"?") {
			return good
		}
	}
	return hostile().Draw(t, label)
}

const (
	goodTable = "main.orders"
	goodQuery = "SELECT id, status, total, customer_id, ordered_at FROM main.orders"
)

// fileOf writes the source "extra" of canaryData, with each of its strings from text.
func fileOf(text func(label, good string) string, query bool) map[string]any {
	file := map[string]any{
		"name": text("name", "extra"), "grain": []string{text("grain", "id")}, "default_time_dimension": text("default time", "ordered_at"),
		"descriptions": map[string]string{"user": text("description", "Orders again.")}, "tags": []string{text("tag", "shop")},
		"columns": []map[string]any{
			{"name": "id", "type": "number"},
			{"name": text("column", "status"), "type": text("type", "string")},
			{"name": "total", "type": "number"},
			{"name": "customer_id", "type": "number"},
			{"name": "ordered_at", "type": "time", "natural_granularity": text("natural", "day")},
			{"name": text("computed", "twice"), "type": "number", "expr": text("expr", "total * 2")},
		},
		"joins": []map[string]any{{"to": text("to", "customers"), "on": text("on", "customer_id = buyer.id"), "alias": text("alias", "buyer"), "relationship": text("relationship", "many_to_one")}},
		"measures": []map[string]any{
			{"name": text("measure", "amount"), "expr": text("sum", "sum(total)"), "filter": text("filter", "status = 'paid'")},
			{"name": text("second", "last_total"), "expr": "sum(total)", "segments": []string{text("of measure", "good")}, "semi_additive": map[string]any{"over": text("over", "ordered_at"), "take": text("take", "last"), "per": []string{text("per", "customer_id")}}},
		},
		"segments": []map[string]any{{"name": text("segment", "good"), "expr": text("condition", "total > 1")}},
	}
	if query {
		file["sql"] = text("sql", goodQuery)
	} else {
		file["table"] = text("table", goodTable)
	}
	return file
}

// requestOf asks for measures of the source "extra" or of orders, with each string from
// text.
func requestOf(text func(label, good string) string, extra, segments bool) map[string]any {
	source, measure, segment, joined := "orders", "revenue", "paid", "customers"
	if extra {
		source, measure, segment, joined = "extra", "amount", "good", "buyer"
	}
	measures := []any{text("m", source+"."+measure), map[string]string{"expr": text("e", "count("+source+".id)"), "name": text("n", "rows")}}
	if extra {
		measures = append(measures, text("last", "extra.last_total"))
	}
	request := map[string]any{
		"connectionId": "a", "include": []string{"sql"}, "measures": measures,
		"dimensions": []any{
			text("d", source+".status"),
			map[string]string{"field": text("time", source+".ordered_at"), "granularity": text("granularity", "month")},
			text("joined", joined+".country"),
		},
		"filters":  []string{text("f", source+".id > 0"), text("having", source+"."+measure+" > 0")},
		"order_by": []any{map[string]string{"field": text("o", "rows"), "direction": text("direction", "desc")}, text("key", "status")},
	}
	if segments {
		request["segments"] = []string{text("s", source+"."+segment)}
	}
	return request
}

// TestSLInjectionOfTheCorpus writes the statements of the corpus of attacks into each
// string of a request and of a file, one place at a time: a sample of the places, and all
// of them if KTX_TEST_FULL is set.
func TestSLInjectionOfTheCorpus(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	salesProject(t, dir)
	conn := databaseOf(t, "a", canaryData)
	conn.Limits.Timeout = 2 * time.Second // the corpus has queries without an end
	logs := &lockedBuffer{}
	s := research.New(gatewayTo(t, conn), slog.New(slog.NewTextHandler(logs, nil)), storesIn(t, dir))
	ask := callerOf(t, s, analyst("ana", "a"))
	try := func(place int, payload string) (label, answer string) {
		at := 0
		text := func(name, good string) string {
			if at++; at-1 != place {
				return good
			}
			label = name
			return payload
		}
		file := fileOf(text, place%2 == 1)
		content, err := yaml.Marshal(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "semantic-layer", "a", "extra.yaml"), content, 0o600); err != nil {
			t.Fatal(err)
		}
		arguments, err := json.Marshal(requestOf(text, true, true))
		if err != nil {
			t.Fatal(err)
		}
		answer = ask.answer("sl_query", string(arguments))
		if strings.Contains(answer, "internal_error") || strings.Contains(answer, "zq7 canary") && label != "sql" && label != "table" {
			t.Errorf("%s: %q\n%s\n%s", label, payload, answer, logs)
		}
		return label, answer
	}
	if _, answer := try(-1, ""); !strings.HasPrefix(answer, "error false: ") {
		t.Fatalf("without a payload: %s", answer)
	}
	places := 0
	for label := "x"; label != ""; places++ {
		label, _ = try(places, "'")
	}
	places--
	full := os.Getenv("KTX_TEST_FULL") != ""
	ran, refused := map[string]int{}, 0
	for i, c := range corpus.Cases() {
		if !full && c.Dialect != "sqlite" && i%8 != 0 || len(c.SQL) > 10_000 || c.SQL == "" { // "" leaves a member out
			continue
		}
		payloads := []string{c.SQL, "total) " + c.SQL, "'; " + c.SQL, `"; ` + c.SQL}
		for place := range places {
			if !full && place != i%places {
				continue
			}
			for j, payload := range payloads {
				if !full && j != (i/places)%len(payloads) {
					continue
				}
				if label, answer := try(place, payload); strings.HasPrefix(answer, "error false: ") {
					ran[label]++
				} else {
					refused++
				}
			}
		}
	}
	t.Logf("%d places; ran %v, %d were refused", places, ran, refused)
	// Only texts that are no SQL, names that the request does not use, and a query may hold a
	// statement.
	for label := range ran {
		if !slices.Contains([]string{"description", "tag", "computed", "sql", "second", "segment"}, label) {
			t.Errorf("a statement as %s was accepted", label)
		}
	}
	if len(ran) == 0 || refused == 0 || places < 30 {
		t.Error("the requests are all of one kind")
	}
	if got := ask.answer("sql_execution", `{"connectionId":"a","sql":"SELECT (SELECT count(*) FROM canary), (SELECT count(*) FROM orders), (SELECT count(*) FROM sqlite_schema WHERE type = 'table')"}`); !strings.Contains(got, "[[1,4,5]]") {
		t.Errorf("the database has changed: %s", got)
	}
}

// TestSLInjection: whatever stands in a request or in a file, no other table is read,
// nothing is written, and the guard never refuses what the compiler wrote.
func TestSLInjection(t *testing.T) {
	dir := t.TempDir()
	salesProject(t, dir)
	conn := databaseOf(t, "a", canaryData)
	logs := &lockedBuffer{}
	s := research.New(gatewayTo(t, conn), slog.New(slog.NewTextHandler(logs, nil)), storesIn(t, dir))
	ask := callerOf(t, s, analyst("ana", "a"))
	ran, refused := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		text := func(label, good string) string { return either(t, label, good) }
		file := fileOf(text, rapid.Bool().Draw(t, "query"))
		content, err := yaml.Marshal(file)
		if err != nil {
			t.Skip()
		}
		if err := os.WriteFile(filepath.Join(dir, "semantic-layer", "a", "extra.yaml"), content, 0o600); err != nil {
			t.Fatal(err)
		}
		arguments, err := json.Marshal(requestOf(text, rapid.Bool().Draw(t, "extra"), rapid.Bool().Draw(t, "segments")))
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
		if strings.Contains(body, "internal_error") || strings.Contains(body, "zq7 canary") && (file["table"] == goodTable || file["sql"] == goodQuery) {
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
