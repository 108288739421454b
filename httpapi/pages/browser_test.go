package pages_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/ktxhq/ktx/execution/audit"
	"github.com/ktxhq/ktx/execution/executiontest/browser"
)

// views are the pages, and what each must show.
var views = []struct{ name, path, has string }{
	{"overview", "/?since=1h", ".trends path.p95"},
	{"overview-empty", "/?until=2000-01-01&since=1999-01-01", ".empty"},
	{"audit", "/audit", "table.rows tbody tr"},
	{"audit-filtered", "/audit?principal=ada&status=ok", "[aria-current=true]"},
	{"audit-empty", "/audit?text=nothing", ".empty"},
	{"statement", "/audit/ada-0", "pre.sql"},
	{"refused", "/audit/refused-0", "section.code"},
	{"principal", "/principal?name=ada", "table td strong.warn"},
	{"principal-empty", "/principal?name=ada&since=2100-01-01", ".empty"},
	{"session", "/session?id=session-of-bob", "th[scope=row]"},
	{"rejudged", "/audit/rejudge", "table.rows tbody tr"},
	{"rejudged-empty", "/audit/rejudge?text=nothing", ".empty"},
	{"corpus", "/corpus", "table.matrix td a"},
	{"corpus-filtered", "/corpus?class=limits", "table.rows tbody tr"},
	{"corpus-empty", "/corpus?text=nothing-has-this", ".empty"},
	{"corpus-case", "/corpus/KTX-LITE-RAW-0001", ".tree, h2"},
	{"corpus-mutants", "/corpus/KTX-LITE-FN-0001", "[aria-label=Mutants] td"},
	{"compare", "/corpus/compare", "form.ask"},
	{"playground", "/playground", "textarea"},
	{"explained", "/explain?code=write_statement", ".prose h2"},
	{"explore", "/explore", "[aria-label='Wiki pages'] td a"},
	{"explore-sources", "/explore?list=sources", "[aria-label='Semantic sources'] td a"},
	{"explore-source", "/explore?connection=shop&source=orders", "pre"},
	{"explore-found", "/explore?q=orders", "table td a"},
	{"explore-more", "/explore?q=many&after=50", ".turn [rel=next]"},
	{"explore-tables", "/explore?connection=shop", ".diagram svg a rect"},
	{"explore-schema", "/explore?connection=shop&schema=main", "nav [aria-current=true]"},
	{"explore-table", "/explore?connection=shop&table=main.orders", ".diagram svg a[aria-current]"},
	{"explore-page", "/explore?page=revenue", ".prose h2"},
	{"query", "/query", "textarea"},
	{"tools", "/tools", "table td a"},
	{"tools-of", "/tools?server=files", "[rel=next]"},
	{"skills", "/skills", "table td a"},
	{"skills-more", "/skills?q=many&after=50", ".turn [rel=next]"},
	{"skill", "/skills?name=x", "dl.facts"},
	{"verified", "/audit/verify", ".whole"},
}

// look is how a page is looked at.
type look struct {
	width   int
	scheme  string
	scripts bool
}

// TestInChromium opens every page in a browser: with and without JavaScript, in both
// colour schemes, narrow and wide; in half of these combinations, or in all. No page scrolls sideways, asks another server, breaks
// its policy or fails in its script.
func TestInChromium(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "audit")
	log, err := audit.Open(dir, audit.Config{Sync: audit.SyncOff}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 60 {
		who := []string{"ada", "bob", "carol"}[i%3]
		write(t, log, who, fmt.Sprintf("%s-%d", who, i/3), "SELECT a, b FROM public.orders WHERE c = ? AND d <> ?")
	}
	write(t, log, "carol", "carol-slept", "SELECT pg_sleep(1)") // allowed then, and refused now
	long := audit.Event{                                        // what makes a list of statements wide
		Type: audit.QueryDecision, QueryID: "long", Principal: "auth0|5f7c8ec7c33c6c004bbafe82-service-account@example.iam", Session: "s", Connection: audit.Connection{ID: "warehouse-production-eu-central-1-replica-02"},
		SQL: audit.SQL{Normalized: "SELECT 1", Fingerprint: "f"}, Decision: audit.Decision{Verdict: audit.VerdictReject, Codes: []string{"function_network_access", "session_mode_mismatch"}},
	}
	if err := log.Append(t.Context(), long); err != nil {
		t.Fatal(err)
	}
	for i, text := range append([]string{"DELETE FROM public.orders"}, hostile...) {
		e := audit.Event{
			Type: audit.QueryDecision, QueryID: fmt.Sprintf("refused-%d", i), Principal: "ada", Session: "s", Connection: audit.Connection{ID: text},
			SQL: audit.SQL{Normalized: text, Fingerprint: "f", Tables: []string{text}}, Decision: audit.Decision{Verdict: audit.VerdictReject, Codes: []string{"write_statement"}},
		}
		if err := log.Append(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	answering.Store("files")
	defer answering.Store("")
	d := serve(t, dir, nil)
	c := browser.Start(t, d.origin)
	// What a page lacks in one of these shows in the first three too, as a rule: colours do
	// not depend on the width, and the style does not depend on scripts.
	looks := []look{{1280, "light", true}, {320, "dark", true}, {320, "light", false}}
	if os.Getenv("KTX_TEST_FULL") != "" || os.Getenv("KTX_TEST_SCREENSHOTS") != "" {
		looks = append(looks, look{1280, "dark", true}, look{320, "light", true}, look{1280, "light", false}, look{2560, "dark", true})
	}
	for _, l := range looks {
		c.Scripts(l.scripts)
		c.Show(l.width, l.scheme)
		for _, v := range views {
			what := fmt.Sprintf("%s-%s-%d-%t", v.name, l.scheme, l.width, l.scripts)
			c.Open(d.origin + v.path)
			if !browser.Evaluate[bool](c, fmt.Sprintf(`document.querySelector(%q) !== null`, v.has)) {
				t.Errorf("%s: nothing is %s", what, v.has)
			}
			if wide := browser.Evaluate[int](c, `document.documentElement.scrollWidth`); wide > l.width {
				t.Errorf("%s: the page is %d wide", what, wide)
			}
			if beside := browser.Evaluate[int](c, `[...document.querySelectorAll(".scroll:has(table.log)")].filter((s) => s.scrollWidth > s.clientWidth).length`); beside > 0 {
				t.Errorf("%s: %d lists of statements scroll sideways", what, beside)
			}
			// A narrow list of statements shows them, not only what stands before them.
			if beside := browser.Evaluate[int](c, fmt.Sprintf(`[...document.querySelectorAll("table.log td.sql a")].filter((a) => a.checkVisibility() && a.getBoundingClientRect().right > %d).length`, l.width)); beside > 0 && l.width < 640 {
				t.Errorf("%s: %d statements lie beside the window", what, beside)
			}
			if l.scripts {
				if left := browser.Evaluate[int](c, `[...document.querySelectorAll("main table")].filter((t) => [...t.tHead?.rows[0].cells ?? [t]].some((h) => h.querySelector("button") === null)).length`); left > 0 {
					t.Errorf("%s: %d tables do not sort", what, left)
				}
				c.Axe(what)
				c.Screenshot(what)
			}
		}
	}
	c.Harmless("pages")
}

// TestLoginInChromium logs in and out with the form, without JavaScript as well.
func TestLoginInChromium(t *testing.T) {
	d := openDesk(t, 30, tokens())
	c := browser.Start(t, d.origin)
	c.Show(1280, "light")
	for _, scripts := range []bool{true, false} {
		c.Scripts(scripts)
		c.Open(d.origin + "/audit?status=ok")
		c.Until(`location.pathname === "/login"`)
		if scripts {
			c.Axe("login")
			c.Screenshot("login")
		}
		browser.Evaluate[bool](c, `(document.querySelector("[name=token]").value = "root", document.querySelector("form.login button").click(), true)`)
		c.Until(`location.pathname === "/audit" && location.search === "?status=ok" && document.readyState === "complete"`)
		first := browser.Evaluate[string](c, `document.querySelector("table.rows td.sql a").href`)
		browser.Evaluate[bool](c, `(document.querySelector("[rel=next]").click(), true)`)
		c.Until(`new URLSearchParams(location.search).has("after") && document.readyState === "complete"`)
		if browser.Evaluate[string](c, `document.querySelector("table.rows td.sql a").href`) == first {
			t.Error("the next page shows the same statements")
		}
		// The form of conditions.
		browser.Evaluate[bool](c, `(document.querySelector("[name=principal]").value = "carol", document.querySelector("form.filter button").click(), true)`)
		c.Until(`new URLSearchParams(location.search).get("principal") === "carol" && document.readyState === "complete"`)
		if others := browser.Evaluate[int](c, `[...document.querySelectorAll("table.rows tbody tr")].filter((r) => r.cells[1].textContent !== "carol").length`); others != 0 {
			t.Errorf("%d rows of others", others)
		}
		browser.Evaluate[bool](c, `(document.querySelector("header form button").click(), true)`)
		c.Until(`location.pathname === "/login"`)
		c.Open(d.origin + "/audit")
		c.Until(`location.pathname === "/login"`)
	}
	// A login ends with its token.
	browser.Evaluate[bool](c, `(document.querySelector("[name=token]").value = "root", document.querySelector("form.login button").click(), true)`)
	c.Until(`location.pathname === "/audit" && document.readyState === "complete"`)
	if err := d.server.SetTokens(tokens()[:2]); err != nil {
		t.Fatal(err)
	}
	c.Open(d.origin + "/corpus?class=limits")
	c.Until(`location.pathname === "/login"`)
	c.Harmless("login")
}

// TestFiltersInChromium chooses by each condition and by each count beside it, with and
// without JavaScript. The list, its counts and its exports are of the same statements.
func TestFiltersInChromium(t *testing.T) {
	d := openDesk(t, 4, nil)
	c := browser.Start(t, d.origin)
	c.Show(1280, "light")
	found := func() string {
		return browser.Evaluate[string](c, `[...document.querySelectorAll("main > p")].map((p) => p.textContent.match(/^([0-9,]+) statements/)?.[1]).find(Boolean)`)
	}
	for _, scripts := range []bool{true, false} {
		c.Scripts(scripts)
		c.Open(d.origin + "/audit")
		counts := browser.Evaluate[map[string]string](c, `Object.fromEntries([...document.querySelectorAll(".facet li")].map((l) => [l.querySelector("a").href, l.querySelector(".n").textContent]))`)
		if len(counts) < 12 {
			t.Fatalf("%d counts: %v", len(counts), counts)
		}
		for href, count := range counts {
			c.Open(href)
			if got := found(); got != count || !browser.Evaluate[bool](c, `document.querySelector(".facet [aria-current=true]") !== null`) {
				t.Errorf("%s: %q statements, the count was %s", href, got, count)
			}
		}
		for name, value := range map[string]string{
			"text": "secret_of_bob", "status": "ok", "principal": "bob", "client": "client-of-bob", "connection": "shop", "table": "table_of_bob", "kind": "select", "session": "session-of-bob",
			"fingerprint": "f-SELECT secret_of_bob FROM t", "verdict": "allow", "queryId": "bob-1", "since": "1h", "until": "2100-01-01", "minRows": "7", "minMs": "1.5",
		} {
			want := map[string]string{"status": "12", "connection": "12", "kind": "12", "verdict": "12", "since": "12", "until": "12", "minRows": "12", "minMs": "12", "queryId": "1"}[name]
			if want == "" {
				want = "4"
			}
			c.Open(d.origin + "/audit")
			browser.Evaluate[bool](c, fmt.Sprintf(`(document.querySelector("form.filter").elements[%q].value = %q, document.querySelector("form.filter button").click(), true)`, name, value))
			c.Until(fmt.Sprintf(`new URLSearchParams(location.search).get(%q) === %q && document.readyState === "complete"`, name, value))
			if got := found(); got != want {
				t.Errorf("%s=%s: %q statements, want %s", name, value, got, want)
			}
		}
		c.Open(d.origin + "/audit?principal=bob")
		for format, want := range map[string]int{"jsonl": 4, "csv": 5, "ocsf": 4} {
			lines := browser.Evaluate[int](c, fmt.Sprintf(`fetch(document.querySelector("a[href*='format=%s']").href).then((r) => r.text()).then((text) => text.trim().split("\n").length)`, format))
			if lines != want {
				t.Errorf("exported as %s: %d lines, want %d", format, lines, want)
			}
		}
	}
	c.Harmless("filters")
}

// TestTheScriptInChromium sorts a table, moves by keys, and shows times in the reader's
// zone.
func TestTheScriptInChromium(t *testing.T) {
	d := openDesk(t, 3, nil)
	c := browser.Start(t, d.origin)
	c.Show(1280, "light")
	c.Open(d.origin + "/audit")
	c.Until(`document.querySelector("table.rows th button") !== null`)
	sorted := `[...document.querySelectorAll("table.rows tbody tr")].map((r) => r.cells[1].textContent).join()`
	browser.Evaluate[bool](c, `(document.querySelectorAll("table.rows th button")[1].click(), true)`)
	if got := browser.Evaluate[string](c, sorted); got != "ada,ada,ada,bob,bob,bob,carol,carol,carol" {
		t.Errorf("sorted by principal: %s", got)
	}
	browser.Evaluate[bool](c, `(document.querySelectorAll("table.rows th button")[1].click(), true)`)
	if got := browser.Evaluate[string](c, sorted); got != "carol,carol,carol,bob,bob,bob,ada,ada,ada" {
		t.Errorf("sorted again: %s", got)
	}
	key := func(key string) {
		browser.Evaluate[bool](c, fmt.Sprintf(`document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key: %q, bubbles: true, cancelable: true }))`, key))
	}
	key("j")
	key("j")
	key("k")
	if !browser.Evaluate[bool](c, `document.activeElement === document.querySelector("table.rows td.sql a")`) {
		t.Error("j, j, k do not lead to the first row")
	}
	key("?")
	if !browser.Evaluate[bool](c, `document.querySelector("dialog[open]") !== null`) {
		t.Error("? does not list the keys")
	}
	c.Axe("keys")
	browser.Evaluate[bool](c, `(document.querySelector("dialog button").click(), true)`)
	c.Until(`document.querySelector("dialog") === null`)
	browser.Evaluate[bool](c, `(document.activeElement.blur(), true)`)
	key("/")
	if !browser.Evaluate[bool](c, `document.activeElement.name === "text"`) {
		t.Error("/ does not lead to the conditions")
	}
	c.Call("Emulation.setTimezoneOverride", browser.Object{"timezoneId": "Asia/Kolkata"}, nil)
	c.Open(d.origin + "/audit")
	c.Until(`document.querySelector("td time small") !== null`)
	for _, r := range []struct{ of, want string }{
		{"td", `new Date(t.dateTime).toISOString().slice(11, 19) + " UTC"`}, {"figcaption", `new Date(t.dateTime).toISOString().slice(0, 19).replace("T", " ") + " UTC"`},
	} {
		if !browser.Evaluate[bool](c, fmt.Sprintf(`(() => { const t = document.querySelector("%s time"); return t.firstChild.textContent === new Date(t.dateTime).toLocaleString() && t.querySelector("small").textContent.endsWith(%s); })()`, r.of, r.want)) {
			t.Errorf("%s: %s", r.of, browser.Evaluate[string](c, fmt.Sprintf(`document.querySelector("%s time").textContent`, r.of)))
		}
	}
	c.Harmless("script")
}

// TestWorkInChromium judges as one types, keeps the text in the fragment, runs a statement
// in place, follows the log, and chooses a part of the chart.
func TestWorkInChromium(t *testing.T) {
	answering.Store("files")
	defer answering.Store("")
	d := openDesk(t, 3, nil)
	c := browser.Start(t, d.origin)
	c.Show(1280, "light")
	c.Open(d.origin + "/playground")
	browser.Evaluate[bool](c, `(() => { const f = document.querySelector("form.ask"); f.elements.by.value = "dialect:postgres"; f.elements.sql.value = "DELETE FROM t"; f.elements.sql.dispatchEvent(new Event("input", { bubbles: true })); return true; })()`)
	c.Until(`document.querySelector("#result mark") !== null && location.hash.includes("DELETE")`)
	c.Axe("playground-judged")
	c.Screenshot("playground-judged")
	link := browser.Evaluate[string](c, `location.href`)
	c.Open(d.origin + "/audit")
	c.Open(link)
	c.Until(`document.querySelector("#result mark")?.textContent.startsWith("DELETE") === true`)

	c.Open(d.origin + "/query")
	browser.Evaluate[bool](c, `(document.querySelector("form.ask").elements.sql.value = "SELECT 1", document.querySelector("form.ask button").click(), true)`)
	c.Until(`document.querySelectorAll("#result table tr").length === 4 && document.querySelector("#result button")?.textContent === "Copy"`)
	c.Axe("query-rows")
	c.Screenshot("query-rows")
	browser.Evaluate[bool](c, `(document.querySelector("form.ask").elements.sql.value = "DELETE FROM t", document.querySelector("form.ask button").click(), true)`)
	c.Until(`document.querySelector("#result .broken code")?.textContent === "write_statement"`)
	c.Axe("query-refused")
	c.Screenshot("query-refused")

	browser.Evaluate[bool](c, `(document.querySelector("form.ask").elements.sql.value = "SELECT endless", document.querySelector("form.ask button").click(), true)`)
	cancel := `[...document.querySelectorAll("form.ask button")].find((b) => b.textContent === "Cancel")`
	c.Until(cancel + `.hidden === false`)
	browser.Evaluate[bool](c, `(`+cancel+`.click(), true)`)
	c.Until(`document.querySelector("form.ask [role=status]").textContent === "cancelled" && ` + cancel + `.hidden`)
	if err := <-cancelled; err == nil {
		t.Error("the statement was not cancelled")
	}

	c.Open(d.origin + "/audit")
	browser.Evaluate[bool](c, `(document.querySelector("[data-tail] button").click(), true)`)
	c.Until(`document.querySelector("[data-tail] [role=status]").textContent === "following"`)
	log, err := audit.Open(d.dir, audit.Config{Sync: audit.SyncOff}, nil)
	if err != nil {
		t.Fatal(err)
	}
	write(t, log, "ada", "ada-live", "SELECT live FROM t")
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	c.Until(`document.querySelector("table.rows td.sql a").textContent === "SELECT live FROM t"`)
	c.Axe("followed")
	c.Screenshot("followed")
	browser.Evaluate[bool](c, `(document.querySelector("[data-tail] button").click(), true)`)
	if bars := browser.Evaluate[int](c, `document.querySelectorAll(".chart svg a").length`); bars == 0 {
		t.Fatal("the chart has no bars")
	}
	browser.Evaluate[bool](c, `(() => { const s = document.querySelector(".chart svg"), b = s.getBoundingClientRect(); const at = (type, x) => s.dispatchEvent(new PointerEvent(type, { clientX: b.left + x * b.width, clientY: b.top + 5, bubbles: true, cancelable: true })); at("pointerdown", 0.01); at("pointermove", 0.99); at("pointerup", 0.99); return true; })()`)
	c.Until(`new URLSearchParams(location.search).has("since") && new URLSearchParams(location.search).has("until") && document.readyState === "complete" || document.querySelectorAll(".chart svg a").length === 1`)

	c.Open(d.origin + "/corpus/compare")
	browser.Evaluate[bool](c, fmt.Sprintf(`(() => { const f = document.querySelector("form.ask"), d = new DataTransfer(); d.items.add(new File([%q], "run.json")); f.elements.before.files = d.files; f.querySelector("button").click(); return true; })()`, runOf(t, 1)))
	c.Until(`new URLSearchParams(location.search).has("runs") && document.querySelector(".turn [rel=next]") !== null && document.readyState === "complete"`)
	c.Axe("compared")
	c.Screenshot("compared")
	browser.Evaluate[bool](c, `(document.querySelector(".turn [rel=next]").click(), true)`)
	c.Until(`new URLSearchParams(location.search).has("changes") && document.readyState === "complete"`)
	c.Harmless("work")
}
