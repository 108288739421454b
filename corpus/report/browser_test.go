package report_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/corpus"
	"github.com/ktxhq/ktx/execution/executiontest/browser"
)

// chromium is a browser with the page of a report.
type chromium struct {
	*browser.Browser
	t *testing.T
}

func startChromium(t *testing.T) *chromium {
	t.Helper()
	return &chromium{browser.Start(t), t}
}

// shown counts the elements of a selector that are displayed.
func shown(c *chromium, selector string) int {
	c.t.Helper()
	return browser.Evaluate[int](c.Browser, fmt.Sprintf(`[...document.querySelectorAll(%q)].filter((e) => e.getClientRects().length > 0 && e.checkVisibility()).length`, selector))
}

// choose picks an option of a filter by its text, as a user's browser does.
func (c *chromium) choose(filter, text string) {
	c.t.Helper()
	found := browser.Evaluate[bool](c.Browser, fmt.Sprintf(`(() => {
		const list = document.getElementById(%q);
		const option = [...list.options].find((o) => o.text === %q);
		if (option) { list.value = option.value; list.dispatchEvent(new Event("input", { bubbles: true })); }
		return Boolean(option);
	})()`, filter, text))
	if !found {
		c.t.Fatalf("%s has no option %q", filter, text)
	}
}

// dimmest returns the displayed text with the lowest contrast to its
// background, as WCAG 2.2 defines contrast (1.4.3).
const dimmest = `(() => {
	const parse = (text) => { const n = text.match(/[0-9.]+/g).map(Number); return { r: n[0], g: n[1], b: n[2], a: n.length > 3 ? n[3] : 1 }; };
	const channel = (v) => { v /= 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; };
	const light = (c) => 0.2126 * channel(c.r) + 0.7152 * channel(c.g) + 0.0722 * channel(c.b);
	const behind = (e) => { for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor); if (c.a === 1) return c; } return { r: 255, g: 255, b: 255 }; };
	let worst = { ratio: 99, what: "" };
	for (const e of document.querySelectorAll("body, body *")) {
		if (!e.checkVisibility() || ![...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim() !== "")) continue;
		const a = light(parse(getComputedStyle(e).color)), b = light(behind(e));
		const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
		if (ratio < worst.ratio) worst = { ratio, what: e.tagName + "." + e.className + " " + e.textContent.slice(0, 40) };
	}
	return worst;
})()`

// TestPageInChromium opens the page in Chromium with and without JavaScript, in
// both colour schemes, and in a wide and a narrow window. Filters and pages of
// cases work, and the browser reports no errors.
func TestPageInChromium(t *testing.T) {
	cases := few()
	cases = append(cases, corpus.Case{ID: "WIDE", Class: "limits", Dialect: "postgres", Title: strings.Repeat("wide", 100), SQL: "SELECT '" + strings.Repeat("x", 1500) + "'", Expect: corpus.Allow})
	r := asked(t, cases)
	r.Before = earlier()
	url := save(t, "report", written(t, r))
	c := startChromium(t)
	for _, scripts := range []bool{true, false} {
		for _, scheme := range []string{"light", "dark"} {
			for _, width := range []int{1280, 320} {
				name := fmt.Sprintf("%s %d scripts=%v", scheme, width, scripts)
				c.Scripts(scripts)
				c.Show(width, scheme)
				c.Open(url)
				c.list(name, len(cases), scripts)
				c.page(name, scripts)
				c.Harmless(name)
			}
		}
	}
	c.keyboard(url)
	c.axe()
}

// list checks that the list of cases is displayed and can be filtered.
func (c *chromium) list(name string, cases int, scripts bool) {
	t := c.t
	t.Helper()
	c.readable(name + " list")
	for _, check := range []struct {
		dialect, class, show string
		want                 int
	}{
		{"all", "all", "all", cases},
		{"postgres", "all", "all", 7},
		{"postgres", "side-effect-function", "all", 2},
		{"postgres", "side-effect-function", "must pass", 1},
		{"mysql", "side-effect-function", "all", 0},
		{"all", "all", "changed since the earlier run", cases - 1},
		{"all", "all", "all", cases},
	} {
		c.choose("by-dialect", check.dialect)
		c.choose("by-class", check.class)
		c.choose("by-show", check.show)
		if got := shown(c, ".case"); got != check.want {
			t.Errorf("%s: %+v shows %d cases", name, check, got)
		}
		if scripts {
			if got := browser.Evaluate[string](c.Browser, `document.querySelector("[role=status]").textContent`); got != fmt.Sprint(check.want)+" cases" && check.want != 1 {
				t.Errorf("%s: %+v is told as %q", name, check, got)
			}
		}
	}
	if scripts {
		browser.Evaluate[bool](c.Browser, `(() => { const s = document.getElementById("search"); s.value = "PG_READ_FILE passwd"; s.dispatchEvent(new Event("input", { bubbles: true })); return true; })()`)
		if got := shown(c, ".case"); got != 1 {
			t.Errorf("%s: the search shows %d cases", name, got)
		}
		browser.Evaluate[bool](c.Browser, `(() => { const s = document.getElementById("search"); s.value = ""; s.dispatchEvent(new Event("input", { bubbles: true })); return true; })()`)
	} else if got := shown(c, "#search"); got != 0 {
		t.Errorf("%s: a search that does nothing", name)
	}
	if got := shown(c, ".page"); got != 0 {
		t.Errorf("%s: %d pages of cases in the list", name, got)
	}
}

// opened is true when the page of a case is shown.
func opened(id string) string {
	return fmt.Sprintf(`document.querySelector(".case:is(:target, .open)")?.id === %q`, id)
}

// page checks that the address of a case shows that case, whatever the filters are set to.
// With scripts it shows nothing else, and without them the list around it.
func (c *chromium) page(name string, scripts bool) {
	t := c.t
	t.Helper()
	c.choose("by-dialect", "sqlite")
	for _, id := range []string{"case-KTX-PG-FN-0001", "case-KTX-MS-SES-0001", "case-WIDE"} {
		browser.Evaluate[bool](c.Browser, fmt.Sprintf(`(location.hash = %q, true)`, id))
		c.Until(opened(id))
		if pages, all := shown(c, "#"+id+" .page"), shown(c, ".page"); pages != 1 || all != 1 {
			t.Errorf("%s: %s shows %d of its pages, and %d pages", name, id, pages, all)
		}
		if cases, rest := shown(c, ".case"), shown(c, "h2, h3, .over"); scripts && (cases != 1 || rest != 2) || !scripts && cases != 2 {
			t.Errorf("%s: %s shows %d cases, and %d headings and parts above the cases, not 2", name, id, cases, rest)
		}
		c.readable(name + " " + id)
		c.Screenshot(strings.ReplaceAll(name+" "+id, " ", "-"))
	}
	browser.Evaluate[bool](c.Browser, `(location.hash = "cases", true)`)
	c.Until(`document.querySelector(":target")?.id === "cases" && document.querySelector(".case.open") === null`)
	if got := shown(c, ".case"); got != 1 {
		t.Errorf("%s: the list shows %d cases of sqlite", name, got)
	}
	c.choose("by-dialect", "all")
	c.Screenshot(strings.ReplaceAll(name+" list", " ", "-"))
}

// readable checks that the page does not scroll sideways and that its text has
// enough contrast.
func (c *chromium) readable(name string) {
	c.t.Helper()
	if over := browser.Evaluate[int](c.Browser, `document.documentElement.scrollWidth - document.documentElement.clientWidth`); over > 0 {
		widest := browser.Evaluate[[]string](c.Browser, `[...document.querySelectorAll("body *")].filter((e) => !e.closest(".scroll, .tree") && e.getBoundingClientRect().right > document.documentElement.clientWidth).map((e) => e.tagName + "." + e.className + "#" + e.id)`)
		c.t.Errorf("%s: %d pixels are beside the window: %v", name, over, widest)
	}
	worst := browser.Evaluate[struct {
		Ratio float64
		What  string
	}](c.Browser, dimmest)
	if worst.Ratio < 4.5 {
		c.t.Errorf("%s: contrast %.2f: %s", name, worst.Ratio, worst.What)
	}
}

// keyboard checks that the page can be used without a pointer.
func (c *chromium) keyboard(url string) {
	t := c.t
	t.Helper()
	c.Scripts(true)
	c.Show(1280, "light")
	c.Open(url)
	c.Press("Tab", 9)
	if got := browser.Evaluate[string](c.Browser, `document.activeElement.textContent`); got != "Skip to the cases" {
		t.Errorf("the first stop is %q", got)
	}
	if outline := browser.Evaluate[string](c.Browser, `getComputedStyle(document.activeElement).outlineStyle`); outline != "solid" {
		t.Errorf("the focus is shown as %q", outline)
	}
	c.Press("Enter", 13)
	c.Until(`location.hash === "#cases"`)
	c.Press("Tab", 9)
	if got := browser.Evaluate[string](c.Browser, `document.activeElement.id`); got != "by-dialect" {
		t.Errorf("behind the skip link is %q", got)
	}
	browser.Evaluate[bool](c.Browser, `(document.querySelector("#case-KTX-MY-LCK-0001 h4 a").focus(), true)`)
	c.Press("Enter", 13)
	c.Until(opened("case-KTX-MY-LCK-0001"))
	if got := browser.Evaluate[string](c.Browser, `document.activeElement.id`); got != "case-KTX-MY-LCK-0001" {
		t.Errorf("the page of a case gives the focus to %q", got)
	}
	c.Harmless("keyboard")
}

// axe runs axe-core on the pages if KTX_TEST_AXE names its file (axe.min.js of
// the npm package axe-core).
func (c *chromium) axe() {
	c.t.Helper()
	if os.Getenv("KTX_TEST_AXE") == "" {
		return
	}
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int{1280, 320} {
			for _, id := range []string{"scores", "case-KTX-PG-FN-0001", "case-KTX-MS-SES-0001", "case-KTX-PG-LIM-0001"} {
				c.Show(width, scheme)
				browser.Evaluate[bool](c.Browser, fmt.Sprintf(`(location.hash = %q, true)`, id))
				c.Until(fmt.Sprintf(`document.querySelector(":target")?.id === %q || `, id) + opened(id))
				c.Axe(fmt.Sprintf("%s %d #%s", scheme, width, id))
			}
		}
	}
}

// TestCorpusInChromium opens the page of the whole corpus. With scripts it has few
// elements, shows the cases a page at a time, and keeps filters, search and page in the
// address.
func TestCorpusInChromium(t *testing.T) {
	c := startChromium(t)
	c.Show(1280, "light")
	r := asked(t, corpus.Cases())
	url := save(t, "corpus", written(t, r))
	c.Open(url)
	few := func(what string) {
		t.Helper()
		if n := browser.Evaluate[int](c.Browser, `document.querySelectorAll("*").length`); n > 3000 {
			t.Errorf("%s: the page has %d elements", what, n)
		}
	}
	first := func() string {
		return browser.Evaluate[string](c.Browser, `document.querySelector(".case").id`)
	}
	few("list")
	if n := shown(c, ".case"); n != 50 {
		t.Errorf("a page of the list has %d cases", n)
	}
	top := first()
	browser.Evaluate[bool](c.Browser, `(document.querySelector(".pages [rel=next]").click(), true)`)
	c.Until(`location.hash === "#cases?page=2" && document.querySelector(".pages [rel=prev]") !== null`)
	if first() == top {
		t.Error("the second page begins as the first")
	}
	if n := shown(c, ".case .text"); n != 50 {
		t.Errorf("%d statements are shown", n)
	}
	c.choose("by-dialect", "mysql")
	c.choose("by-show", "must pass")
	browser.Evaluate[bool](c.Browser, `(() => { const s = document.getElementById("search"); s.value = "select for"; s.dispatchEvent(new Event("input", { bubbles: true })); return true; })()`)
	want := 0
	for i := range r.Cases {
		text := strings.ToLower(r.Cases[i].SQL + " " + r.Cases[i].Title + " " + r.Cases[i].ID)
		if r.Cases[i].Dialect == "mysql" && r.Cases[i].Expect == corpus.Allow && strings.Contains(text, "select") && strings.Contains(text, "for") {
			want++
		}
	}
	count := browser.Evaluate[string](c.Browser, `document.querySelector("[role=status]").textContent`)
	if count != fmt.Sprint(want)+" cases" || want == 0 {
		t.Errorf("the search finds %s, not %d", count, want)
	}
	address := browser.Evaluate[string](c.Browser, `location.href`)
	if !strings.HasSuffix(address, "#cases?dialect=mysql&show=must+pass&text=select+for") {
		t.Errorf("the address is %s", address)
	}
	top = first()
	c.Open(url + "#scores")
	c.Open(address)
	if got := browser.Evaluate[string](c.Browser, `document.querySelector("[role=status]").textContent`); got != count || first() != top {
		t.Errorf("the address leads to %s that begin with %s, not to %s with %s", got, first(), count, top)
	}
	browser.Evaluate[bool](c.Browser, `(document.querySelector(".case h4 a").click(), true)`)
	c.Until(opened(top))
	few("case")
	browser.Evaluate[bool](c.Browser, `(history.back(), true)`)
	c.Until(`document.querySelector(".case.open") === null`)
	if got := browser.Evaluate[string](c.Browser, `location.href`); got != address || first() != top {
		t.Errorf("the way back leads to %s", got)
	}
	browser.Evaluate[bool](c.Browser, `(document.querySelector(".matrix td a").click(), true)`)
	c.Until(`location.hash.startsWith("#cases?dialect=") && location.hash.includes("&class=") && !location.hash.includes("text=")`)
	browser.Evaluate[bool](c.Browser, `(() => { const s = document.getElementById("search"); s.value = "nothing has this"; s.dispatchEvent(new Event("input", { bubbles: true })); return true; })()`)
	if n := shown(c, ".case"); n != 0 || !browser.Evaluate[bool](c.Browser, `document.querySelector("[role=status]").textContent === "0 cases"`) {
		t.Errorf("%d cases are shown where none is", n)
	}
	c.Harmless("corpus")
}

// TestHostilePageInChromium checks that Chromium reads no text of a case as
// markup or script: on a page whose every text tries to be one, and on the page
// of the whole corpus.
func TestHostilePageInChromium(t *testing.T) {
	c := startChromium(t)
	c.Show(1280, "light")
	strange := func(name string) {
		t.Helper()
		if browser.Evaluate[bool](c.Browser, `"pwned" in window`) {
			t.Errorf("%s: a script of strangers ran", name)
		}
		for _, element := range browser.Evaluate[[]string](c.Browser, `[...document.querySelectorAll("*")].filter((e) =>
			/^(IMG|IFRAME|OBJECT|EMBED|SVG|MATH|BASE|LINK|VIDEO|AUDIO|TEMPLATE)$/i.test(e.tagName) ||
			[...e.attributes].some((a) => /^on|^style$|^src$/.test(a.name)) ||
			e.tagName === "A" && !["http:", "https:", "file:"].includes(e.protocol)).map((e) => e.outerHTML.slice(0, 200))`) {
			t.Errorf("%s: %s", name, element)
		}
		if n := browser.Evaluate[int](c.Browser, `document.scripts.length * 100 + document.styleSheets.length`); n != 101 {
			t.Errorf("%s: scripts and style sheets: %d", name, n)
		}
	}
	hostile := hostile()
	for name, page := range map[string]string{"hostile": written(t, hostile), "corpus": written(t, asked(t, corpus.Cases()))} {
		url := save(t, name, page)
		for _, scripts := range []bool{true, false} {
			c.Scripts(scripts)
			c.Open(url)
			strange(name)
		}
	}
	c.Scripts(true)
	c.Open(save(t, "opened", written(t, hostile)))
	for i := range hostile.Cases { // their ids are no fragments
		browser.Evaluate[bool](c.Browser, fmt.Sprintf(`(location.hash = "case.%d", true)`, i+1))
		c.Until(opened(fmt.Sprintf("case.%d", i+1)))
		strange(fmt.Sprint("case ", i+1))
	}
	c.Harmless("hostile")
}
