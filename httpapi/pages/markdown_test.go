package pages_test

import (
	"io"
	"net/http"
	"os"
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
	// Texts that are made to take long, or to be deep. The time grows with the square of
	// some lengths, and the race detector multiplies it.
	part := 10
	if os.Getenv("KTX_TEST_FULL") != "" {
		part = 1
	}
	for _, text := range []string{
		strings.Repeat("[", 50000), strings.Repeat("> ", 30000/part), strings.Repeat("*a_ ", 10000/part), strings.Repeat("- ", 20000/part) + "x", strings.Repeat("![a](", 10000/part),
		strings.Repeat("`a``", 10000), strings.Repeat("<", 50000),
	} {
		answering.Store(text)
		begun := time.Now()
		if page := read(); !strings.Contains(page, "</html>") {
			t.Errorf("%.20s…: the page is cut", text)
		}
		t.Logf("%.20s…: %s", text, time.Since(begun))
	}
}
