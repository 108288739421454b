package markup_test

import (
	"testing"

	"github.com/ktxhq/ktx/httpapi/markup"
)

func TestPut(t *testing.T) {
	t.Parallel()
	var d markup.Document
	d.Put(`<p title="%s">`, `"><script>alert('x')</script>&amp;`)
	d.Put(`%s, %s, 100%%`, 7, "a\x00b\xe9\xff%s")
	markup.PutIf(&d, `<b>%s</b>`, "")
	markup.PutIf(&d, `<i>%s</i>`, 1.5)
	const want = `<p title="&#34;&gt;&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&amp;amp;">7, a` + "\uFFFD" + `b` + "\uFFFD" + `%s, 100%<i>1.5</i>`
	if got := d.String(); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
