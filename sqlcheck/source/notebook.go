package source

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/ktxhq/ktx/sqlguard"
)

// notebook reads the notebook format of Jupyter (nbformat 3 and 4). It joins
// the sources of the code cells to one program.
type notebook struct {
	source   string
	decoder  *json.Decoder
	language string // of the kernel, in lower case
	options  *Options
	fault    *SyntaxError

	cells  []*Text // the source of each code cell
	python Text    // all cells of Python
	masked []byte  // the same, with spaces for what is not Python
	texts  []*Text // of magics
}

func findNotebook(source string, o *Options) (*Source, error) {
	var whole json.RawMessage
	if err := json.Unmarshal([]byte(source), &whole); err != nil {
		at := len(source)
		if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
			at = min(max(int(syntax.Offset)-1, 0), len(source))
		}
		return nil, &SyntaxError{Offset: at, Message: "it is no JSON: " + err.Error()}
	}
	n := &notebook{source: source, decoder: json.NewDecoder(strings.NewReader(source)), options: o}
	n.decoder.UseNumber()
	if found := n.document(); !found && n.fault == nil {
		n.fault = &SyntaxError{Message: "it has no cells, so it is not a notebook"}
	}
	switch {
	case n.fault != nil:
		return nil, n.fault
	case n.language == "sql":
		for _, cell := range n.cells {
			n.add(cell, 0, len(cell.sql))
		}
		return &Source{Texts: n.texts}, nil
	case n.language != "" && n.language != "python" && n.language != "ipython":
		return nil, &SyntaxError{Message: "its language is not Python"}
	}
	for _, cell := range n.cells {
		n.cell(cell)
	}
	return n.program()
}

// document parses the notebook. It reports whether the file is one.
func (n *notebook) document() bool {
	found := false
	token, _ := n.token()
	n.members(token, func(name string) bool {
		switch name {
		case "cells":
			found = n.list() || found
		case "worksheets": // of nbformat 3
			sheets, _ := n.token()
			n.elements(sheets, func() {
				sheet, _ := n.token()
				n.members(sheet, func(name string) bool {
					if name == "cells" {
						found = n.list() || found
					}
					return name == "cells"
				})
			})
		case "metadata":
			n.metadata()
		default:
			return false
		}
		return true
	})
	return found
}

// metadata reads the language of the kernel.
func (n *notebook) metadata() {
	token, _ := n.token()
	n.members(token, func(name string) bool {
		wanted := map[string]string{"kernelspec": "language", "language_info": "name"}[name]
		if wanted == "" {
			return false
		}
		about, _ := n.token()
		n.members(about, func(name string) bool {
			if name != wanted {
				return false
			}
			value, _ := n.token()
			if language, ok := value.(string); ok {
				n.language = strings.ToLower(language)
			} else {
				n.skip(value)
			}
			return true
		})
		return true
	})
}

// list reads a list of cells.
func (n *notebook) list() bool {
	token, _ := n.token()
	n.elements(token, func() {
		kind := ""
		var source *Text
		cell, _ := n.token()
		n.members(cell, func(name string) bool {
			switch name {
			case "cell_type":
				value, _ := n.token()
				kind, _ = value.(string)
				n.skip(value)
			case "source", "input": // in nbformat 4, and in 3
				source = n.text()
			default:
				return false
			}
			return true
		})
		switch kind {
		case "markdown", "raw", "heading", "html":
		default:
			if source != nil {
				n.cells = append(n.cells, source)
			}
		}
	})
	return token == json.Delim('[')
}

// text reads a source: one string, or the strings of its lines.
func (n *notebook) text() *Text {
	t := &Text{}
	token, span := n.token()
	one := func(token json.Token, span sqlguard.Span) {
		if _, ok := token.(string); ok {
			jsonString(t, n.source, span)
			return
		}
		n.fail(span.Start, "the source of a cell is not text")
	}
	if token == json.Delim('[') {
		n.elements(token, func() {
			token, span := n.token()
			one(token, span)
		})
	} else {
		one(token, span)
	}
	t.Span = sqlguard.Span{Start: span.Start, End: int(n.decoder.InputOffset())}
	return t.unixLines()
}

// program finds the SQL of the cells that are Python.
func (n *notebook) program() (*Source, error) {
	found, err := findPython(string(n.masked), n.options)
	if syntax, ok := errors.AsType[*SyntaxError](err); ok {
		return nil, &SyntaxError{Offset: n.python.place(syntax.Offset, false), Message: syntax.Message}
	}
	for _, t := range found.Texts {
		out := &Text{Span: n.span(t.Span), Call: n.python.place(t.Call, false), Sink: t.Sink, Certain: t.Certain}
		for i, p := range t.pieces {
			end := len(t.sql)
			if i+1 < len(t.pieces) {
				end = t.pieces[i+1].at
			}
			if p.verbatim {
				out.run(&n.python, p.file.Start, p.file.End)
			} else {
				out.escaped(string(t.sql[p.at:end]), n.span(p.file))
			}
		}
		for _, h := range t.Holes {
			h.Span = n.span(h.Span)
			out.Holes = append(out.Holes, h)
		}
		n.texts = append(n.texts, out)
	}
	out := &Source{Texts: n.texts}
	n.comments(found.Comments, out)
	return out, nil
}

// comments adds the comments of the program. A comment belongs to a text by its
// line. Where several lines of the program are on one line of the file, the
// comment is left out, because it could belong to any of them.
func (n *notebook) comments(spans []sqlguard.Span, out *Source) {
	ends := newLines(n.source)
	counts := map[int]int{}
	for _, p := range n.python.pieces {
		if !p.verbatim && n.python.sql[p.at] == '\n' {
			counts[ends.of(p.file.Start)]++
		}
	}
	for _, c := range spans {
		if span := n.span(c); counts[ends.of(span.Start)] <= 1 {
			out.Comments = append(out.Comments, span)
			out.comments = append(out.comments, string(n.masked[c.Start:c.End]))
		}
	}
}

// lines has the offsets at which the lines of a text end.
type lines []int

func newLines(text string) lines {
	var all lines
	for i := range len(text) {
		if text[i] == '\n' || text[i] == '\r' && lineEnd(text[i:]) == 1 {
			all = append(all, i)
		}
	}
	return all
}

// of returns the line of an offset, counted from 0.
func (l lines) of(offset int) int {
	i, _ := slices.BinarySearch(l, offset)
	return i
}

// span maps a span of the program to the file.
func (n *notebook) span(s sqlguard.Span) sqlguard.Span {
	start := n.python.place(s.Start, false)
	return sqlguard.Span{Start: start, End: max(start, n.python.place(s.End, true))}
}
