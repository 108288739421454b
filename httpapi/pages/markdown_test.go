package pages_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestMarkdownOfWikiPages shows the structure of a page and no markup of its text.
func TestMarkdownOfWikiPages(t *testing.T) {
	d := openDesk(t, 1, nil)
	read := func() string {
		t.Helper()
		answer, err := http.Get(d.origin + "/explore?page=revenue") //nolint:noctx // the server of this test
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close() //nolint:errcheck // it was only read
		body, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(body)
	}
	answering.Store("*last*")
	defer answering.Store("")
	page := read()
	for _, want := range []string{
		`<h2>Revenue</h2>`, `<h3>In <em>euros</em></h3>`, `<a href="/explore?page=orders">orders</a>`, `<a href="https://example.com/law" rel="noopener nofollow noreferrer">the law</a>`,
		`a picture and x <span class="quiet">(&#34;javascript:alert(1)&#34;)</span>`, `<th scope="col">a</th>`, `<td class="wrap">2</td>`, `<ol start="1"><li>one</li><li><code>two</code></li></ol>`,
		`<blockquote><p>said <strong>so</strong></p></blockquote>`, "<pre tabindex=\"0\"><code><bdi>SELECT 1\n</bdi></code></pre>", `&lt;b onclick=alert(1)&gt;raw&lt;/b&gt;`,
		`<a href="https://example.com/auto" rel="noopener nofollow noreferrer">https://example.com/auto</a>`, `<hr>`, `<em>last</em>`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s", want)
		}
	}
	for _, strange := range []string{"<img", "<b onclick", "href=\"javascript:"} {
		if strings.Contains(page, strange) {
			t.Errorf("%s", strange)
		}
	}
	// Texts that are made to take long, or to be deep: those whose time would grow with the
	// square of their length are shown as they are written, and the page says why.
	const (
		long  = "it is longer than 64 KiB"
		deep  = "a line of it has more than 40 levels of quotes and lists"
		marks = "a paragraph of it has more than 2000 marks of emphasis and links"
	)
	for _, text := range []struct{ text, why string }{
		{strings.Repeat("a ", 33000), long},
		{strings.Repeat("> ", 30000), deep},
		{strings.Repeat(">", 60000), deep},
		{strings.Repeat("- ", 30000) + "x", deep},
		{strings.Repeat("> 1. * ", 9000), deep},
		{"x\n" + strings.Repeat(" 12) ", 41), deep},
		{strings.Repeat(" 12) ", 40) + "deep", ""},
		{strings.Repeat(strings.Repeat("> ", 40)+"x\n", 700), ""},
		{strings.Repeat("*a_ ", 15000), marks},
		{strings.Repeat("![a](", 12000), marks},
		{strings.Repeat("[a](<\n", 10000), marks},
		{strings.Repeat("*", 60000), marks},
		{strings.Repeat("[", 50000), marks},
		{strings.Repeat(strings.Repeat("*a* ", 900)+"\n\n", 15), ""},
		{"| a | b |\n|---|---|\n" + strings.Repeat("| order_id | customer_id_of |\n", 2000), ""},
		{strings.Repeat("`a``", 10000), ""},
		{strings.Repeat("<", 50000), ""},
		{strings.Repeat("- a\n  ", 9000), ""},
	} {
		answering.Store(text.text)
		begun := time.Now()
		page := read()
		if !strings.Contains(page, "</html>") {
			t.Errorf("%.20q…: the page is cut", text.text)
		}
		if said := strings.Contains(page, "as it is written, because "); said != (text.why != "") || !strings.Contains(page, text.why) {
			t.Errorf("%.20q…: shown as it is written: %t, want %q", text.text, said, text.why)
		}
		t.Logf("%.20q…: %s", text.text, time.Since(begun))
	}
}
