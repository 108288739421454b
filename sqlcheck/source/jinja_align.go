package source

import (
	"strings"

	"github.com/ktxhq/ktx/sqlguard"
)

// run is a part of a template: text of the file, or Jinja that produces text.
type run struct {
	text *Text // nil for Jinja
	span sqlguard.Span
	// block is set if the run is one block and nothing else.
	block *jinjaNode
}

// Align returns the compiled text with positions in the file. Text that stands
// in the file has its own position. Text that Jinja produced has the position
// of that Jinja. Align returns false if the template cannot produce the
// compiled text.
func (t *Template) Align(compiled string) (*Text, bool) {
	return align(t.nodes, t.Span, compiled)
}

func align(nodes []*jinjaNode, span sqlguard.Span, compiled string) (*Text, bool) {
	runs := runsOf(nodes)
	first, last, ok := places(runs, compiled)
	if !ok {
		return nil, false
	}
	out := &Text{Span: span}
	// A text that fits at one offset only is placed there. What lies between
	// two placed texts belongs to all the Jinja between them.
	from, at := 0, 0 // the first run that is not placed, and the offset it begins at
	for i := range len(runs) + 1 {
		end := len(compiled)
		if i < len(runs) {
			if runs[i].text == nil || first[i] != last[i] {
				continue
			}
			end = first[i]
		}
		between(out, runs[from:i], compiled[at:end])
		if i < len(runs) {
			out.add(runs[i].text)
			from, at = i+1, end+len(runs[i].text.sql)
		}
	}
	return out, true
}

// runsOf joins adjacent nodes of the same kind.
func runsOf(nodes []*jinjaNode) []run {
	var runs []run
	for _, n := range nodes {
		last := len(runs) - 1
		switch {
		case n.kind == jinjaText:
			if last >= 0 && runs[last].text != nil {
				joined := &Text{Span: sqlguard.Span{Start: runs[last].span.Start, End: n.span.End}}
				joined.add(runs[last].text)
				joined.add(n.text)
				runs[last] = run{text: joined, span: joined.Span}
				continue
			}
			runs = append(runs, run{text: n.text, span: n.span})
		case n.kind == jinjaSilent, n.kind == jinjaBlock && (definitions[n.tag] || n.tag == "set"):
		case n.kind == jinjaOutput && len(n.tokens) > 0 && n.tokens[0].text == "config" && isCall(n.tokens):
		case last >= 0 && runs[last].text == nil:
			runs[last].span.End, runs[last].block = n.span.End, nil
		default:
			r := run{span: n.span}
			if n.kind == jinjaBlock {
				r.block = n
			}
			runs = append(runs, r)
		}
	}
	return runs
}

func isCall(tokens []jinjaToken) bool {
	_, ok := callOf(tokens)
	return ok
}

// places returns the first and the last offset in compiled at which each run of
// text fits.
func places(runs []run, compiled string) (first, last []int, ok bool) {
	first, last = make([]int, len(runs)), make([]int, len(runs))
	at := 0
	for i, r := range runs {
		if r.text == nil {
			continue
		}
		text := string(r.text.sql)
		n := strings.Index(compiled[at:], text)
		if i == len(runs)-1 { // nothing follows it
			n = len(compiled) - len(text) - at
			if n < 0 || !strings.HasSuffix(compiled, text) {
				return nil, nil, false
			}
		}
		if n < 0 || i == 0 && n != 0 {
			return nil, nil, false
		}
		first[i] = at + n
		at = first[i] + len(text)
	}
	if len(runs) == 0 && compiled != "" {
		return nil, nil, false
	}
	end := len(compiled)
	for i := len(runs) - 1; i >= 0; i-- {
		r := runs[i]
		if r.text == nil {
			continue
		}
		text := string(r.text.sql)
		switch {
		case i == 0:
			last[i] = 0
		case i == len(runs)-1:
			last[i] = end - len(text)
		default:
			last[i] = strings.LastIndex(compiled[:end], text)
		}
		end = last[i]
	}
	return first, last, true
}

// between adds the text that the runs between two placed texts produced.
func between(out *Text, runs []run, made string) {
	if made == "" {
		return
	}
	if len(runs) == 1 && runs[0].block != nil && runs[0].block.tag == "if" {
		var found *Text
		several := false
		for _, b := range runs[0].block.branches {
			if text, ok := align(b.nodes, b.span, made); ok {
				several = found != nil
				found = text
			}
		}
		if found != nil && !several {
			out.add(found)
			return
		}
	}
	out.escaped(made, sqlguard.Span{Start: runs[0].span.Start, End: runs[len(runs)-1].span.End})
}

// Inject returns the text with another text inserted at an offset. The Jinja at
// span produced the inserted text.
func (t *Text) Inject(at int, inserted string, span sqlguard.Span) *Text {
	out := &Text{Span: t.Span}
	sql := string(t.sql)
	copyRuns := func(from, to int) {
		for i, p := range t.pieces {
			end := len(sql)
			if i+1 < len(t.pieces) {
				end = t.pieces[i+1].at
			}
			start, stop := max(p.at, from), min(end, to)
			switch {
			case start >= stop:
			case p.verbatim:
				out.verbatim(sql[start:stop], p.file.Start+start-p.at)
			default:
				out.escaped(sql[start:stop], p.file)
			}
		}
	}
	copyRuns(0, at)
	out.escaped(inserted, span)
	copyRuns(at, len(sql))
	return out
}

// Reference returns the span of the ref to a name, or of the whole template if
// there is none.
func (t *Template) Reference(name string) sqlguard.Span {
	place := t.Span
	each(t.nodes, func(n *jinjaNode) {
		for i, token := range n.tokens {
			if token.text == "ref" && i+2 < len(n.tokens) && place == t.Span {
				for _, argument := range n.tokens[i+1 : min(i+5, len(n.tokens))] {
					if argument.kind == 's' && strings.Trim(argument.text, `'"`) == name {
						place = n.span
						return
					}
				}
			}
		}
	})
	return place
}
