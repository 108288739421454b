package pages

import (
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	tables "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// The limits of a text that is read as Markdown. The time of the parser grows with the
// square of the depth of a line, and of the marks of a paragraph.
const (
	maxMarkdown = 64 << 10
	maxNested   = 40
	maxMarks    = 2000
)

// plain says why a text is not read as Markdown; it is blank for one that is.
func plain(source string) string {
	if len(source) > maxMarkdown {
		return "it is longer than 64 KiB"
	}
	marks := 0 // of the paragraph
	for line := range strings.Lines(source) {
		if strings.TrimSpace(line) == "" {
			marks = 0
			continue
		}
		if depth(line) > maxNested {
			return "a line of it has more than " + strconv.Itoa(maxNested) + " levels of quotes and lists"
		}
		if marks += marksOf(line); marks > maxMarks {
			return "a paragraph of it has more than " + strconv.Itoa(maxMarks) + " marks of emphasis and links"
		}
	}
	return ""
}

// container is a mark at the begin of a line that puts the rest of it one level deeper.
var container = regexp.MustCompile(`^[ \t]*(?:>|[-+*](?:[ \t]|$)|[0-9]{1,9}[.)](?:[ \t]|$))`)

// depth counts the quotes and lists that a line begins.
func depth(line string) int {
	line = strings.TrimRight(line, "\r\n")
	n := 0
	for at := container.FindStringIndex(line); at != nil && n <= maxNested; at = container.FindStringIndex(line) {
		line = line[at[1]:]
		n++
	}
	return n
}

// marksOf counts what can begin or end emphasis and links. The _ in order_id cannot.
func marksOf(line string) int {
	n := 0
	for i := range len(line) {
		switch line[i] {
		case '*', '[', ']':
			n++
		case '_':
			if i == 0 || i == len(line)-1 || !isWord(line[i-1]) || !isWord(line[i+1]) {
				n++
			}
		}
	}
	return n
}

func isWord(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

var markdownParser = parser.NewParser(
	parser.WithBlockParsers(parser.DefaultBlockParsers()...), parser.WithInlineParsers(parser.DefaultInlineParsers()...),
	parser.WithParagraphTransformers(append(parser.DefaultParagraphTransformers(), util.Prioritized(extension.NewTableParagraphTransformer(), 200))...),
	parser.WithASTTransformers(util.Prioritized(extension.NewTableASTTransformer(), 0)),
)

// markdown writes a text of a stranger. The parser gives its structure, and all markup is
// of this package: HTML in the text is shown as text, an image is its description, and a
// link leads to another page of the wiki, or elsewhere by http or https. Its headings are
// below those of the page.
func (d *document) markdown(source string) {
	if why := plain(source); why != "" {
		d.Put(`<p class="quiet">The text is shown as it is written, because %s.</p><pre tabindex="0"><bdi>%s</bdi></pre>`, why, source)
		return
	}
	m := mark{document: d, source: []byte(source), level: 1}
	d.Put(`<article class="prose" dir="auto">`)
	m.children(markdownParser.Parse(text.NewReader(m.source)), 0)
	d.Put(`</article>`)
}

// mark writes the nodes of a text.
type mark struct {
	*document
	source []byte
	level  int // of the last heading
}

func (m *mark) children(n ast.Node, depth int) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		m.node(c, depth+1)
	}
}

// lines writes the lines of a block as they are.
func (m *mark) lines(n ast.Node) {
	for i := range n.Lines().Len() {
		line := n.Lines().At(i)
		m.Put(`%s`, string(line.Value(m.source)))
	}
}

func (m *mark) node(n ast.Node, depth int) {
	if depth > maxNested {
		if n.Type() == ast.TypeBlock {
			m.lines(n)
		}
		return
	}
	switch n := n.(type) {
	case *ast.Heading:
		m.level = min(n.Level+1, m.level+1, 6) // no level is left out
		m.Put(`<h%s>`, m.level)
		m.children(n, depth)
		m.Put(`</h%s>`, m.level)
	case *ast.Paragraph:
		m.Put(`<p>`)
		m.children(n, depth)
		m.Put(`</p>`)
	case *ast.Blockquote:
		m.Put(`<blockquote>`)
		m.children(n, depth)
		m.Put(`</blockquote>`)
	case *ast.List:
		if n.IsOrdered() {
			m.Put(`<ol start="%s">`, n.Start)
			m.children(n, depth)
			m.Put(`</ol>`)
			return
		}
		m.Put(`<ul>`)
		m.children(n, depth)
		m.Put(`</ul>`)
	case *ast.ListItem:
		m.Put(`<li>`)
		m.children(n, depth)
		m.Put(`</li>`)
	case *ast.FencedCodeBlock, *ast.CodeBlock:
		m.Put(`<pre tabindex="0"><code><bdi>`)
		m.lines(n)
		m.Put(`</bdi></code></pre>`)
	case *ast.HTMLBlock:
		m.Put(`<p>`)
		m.lines(n)
		if n.HasClosure() {
			m.Put(`%s`, string(n.ClosureLine.Value(m.source)))
		}
		m.Put(`</p>`)
	case *ast.ThematicBreak:
		m.Put(`<hr>`)
	case *tables.Table:
		m.Put(`<div class="scroll" tabindex="0" role="region" aria-label="Table"><table>`)
		m.children(n, depth)
		m.Put(`</table></div>`)
	case *tables.TableHeader:
		m.Put(`<thead><tr>`)
		m.children(n, depth)
		m.Put(`</tr></thead>`)
	case *tables.TableRow:
		m.Put(`<tr>`)
		m.children(n, depth)
		m.Put(`</tr>`)
	case *tables.TableCell:
		if _, head := n.Parent().(*tables.TableHeader); head {
			m.Put(`<th scope="col">`)
			m.children(n, depth)
			m.Put(`</th>`)
			return
		}
		m.Put(`<td class="wrap">`)
		m.children(n, depth)
		m.Put(`</td>`)
	case *ast.Text:
		words := n.Value(m.source)
		if !n.IsRaw() {
			words = util.UnescapePunctuations(util.ResolveEntityNames(util.ResolveNumericReferences(words)))
		}
		m.Put(`%s`, string(words))
		switch {
		case n.HardLineBreak():
			m.Put(`<br>`)
		case n.SoftLineBreak():
			m.Put("\n")
		}
	case *ast.String:
		m.Put(`%s`, string(n.Value))
	case *ast.RawHTML:
		for i := range n.Segments.Len() {
			part := n.Segments.At(i)
			m.Put(`%s`, string(part.Value(m.source)))
		}
	case *ast.CodeSpan:
		m.Put(`<code>`)
		for c := n.FirstChild(); c != nil; c = c.NextSibling() {
			if t, ok := c.(*ast.Text); ok {
				m.Put(`%s`, strings.ReplaceAll(string(t.Value(m.source)), "\n", " "))
			}
		}
		m.Put(`</code>`)
	case *ast.Emphasis:
		if n.Level == 2 {
			m.Put(`<strong>`)
			m.children(n, depth)
			m.Put(`</strong>`)
			return
		}
		m.Put(`<em>`)
		m.children(n, depth)
		m.Put(`</em>`)
	case *ast.Link:
		m.link(string(n.Destination), func() { m.children(n, depth) })
	case *ast.AutoLink:
		m.link(string(n.URL(m.source)), func() { m.Put(`%s`, string(n.Label(m.source))) })
	default: // images, whose description is their content, and what holds other nodes
		m.children(n, depth)
	}
}

// wikiKey is a link to another page of the wiki.
var wikiKey = regexp.MustCompile(`^(?:\./)?([a-z0-9][a-z0-9_-]*(?:/[a-z0-9][a-z0-9_-]*)*)(?:\.md)?$`)

// link writes a link. One to any other scheme or place is text.
func (m *mark) link(to string, content func()) {
	u, err := url.Parse(to)
	key := wikiKey.FindStringSubmatch(to)
	switch {
	case key != nil:
		m.Put(`<a href="/explore?page=%s">`, url.QueryEscape(key[1]))
	case err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.User == nil:
		m.Put(`<a href="%s" rel="noopener nofollow noreferrer">`, u.String())
	default:
		content()
		m.Put(` <span class="quiet">(%s)</span>`, strconv.QuoteToGraphic(short(to)))
		return
	}
	content()
	m.Put(`</a>`)
}
