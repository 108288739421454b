package edit

import (
	"bytes"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// style is how the text around a place is formatted.
type style struct {
	lines   bool   // a line for each member
	newline string // the end of a line
	unit    string // what each level is indented by
	indent  string // what the members of the object are indented by
	closing string // the same of its closing brace
	colon   string // the colon with its blanks
	between string // what stands behind a comma within a line
	padding string // what stands within the braces of one line
	comma   bool   // a comma stands behind the last member
}

// styleOf returns the style of the last object around p, by its members or, if
// it has none, those of the object around it.
func (d *jsonText) styleOf(p place) style {
	s := style{lines: true, newline: newline(d.text), unit: d.unit(p.around), colon: ": ", between: " "}
	model := p.object()
	if len(model.Members) == 0 && len(p.around) > 1 {
		model = objectOf(p.around[len(p.around)-2])
	}
	if n := len(model.Members); n > 0 {
		first, last := &model.Members[0], &model.Members[n-1]
		s.lines = hasLine(last.Name.BeforeExtra)
		s.comma = trailing(model)
		if colon := string(last.Name.AfterExtra) + ":" + string(last.Value.BeforeExtra); strings.Trim(colon, " \t") == ":" {
			s.colon = colon
		}
		if isBlank(first.Name.BeforeExtra) {
			s.padding = string(first.Name.BeforeExtra)
		}
		switch {
		case n > 1 && isBlank(last.Name.BeforeExtra):
			s.between = string(last.Name.BeforeExtra)
		case strings.HasSuffix(s.colon, ":"):
			s.between = ""
		}
	}
	if n := len(p.object().Members); n > 0 && s.lines {
		s.indent = lineIndent(d.body, p.object().Members[n-1].Name.StartOffset)
	} else {
		s.closing = lineIndent(d.body, p.value().StartOffset)
		s.indent = s.closing + s.unit
	}
	return s
}

// isBlank reports whether extra is blanks within a line.
func isBlank(extra []byte) bool { return len(bytes.Trim(extra, " \t")) == 0 }

// hasLine reports whether the end of a line is in extra.
func hasLine(extra []byte) bool { return bytes.IndexByte(extra, '\n') >= 0 }

// unit returns what one level is indented by: in the objects given, the inmost
// first, else anywhere in the text, else two spaces.
func (d *jsonText) unit(around []*hujson.Value) string {
	for _, v := range slices.Backward(around) {
		if unit, ok := d.unitOf(v); ok {
			return unit
		}
	}
	for v := range d.root.All() {
		if unit, ok := d.unitOf(v); ok {
			return unit
		}
	}
	return "  "
}

// unitOf returns how much deeper the members of an object, or the elements of a
// list, stand than its closing brace, where both begin lines.
func (d *jsonText) unitOf(v *hujson.Value) (string, bool) {
	var first *hujson.Value
	switch v := v.Value.(type) {
	case *hujson.Object:
		if len(v.Members) > 0 {
			first = &v.Members[0].Name
		}
	case *hujson.Array:
		if len(v.Elements) > 0 {
			first = &v.Elements[0]
		}
	}
	if first == nil || !d.beginsLine(first.StartOffset) || !d.beginsLine(v.EndOffset-1) {
		return "", false
	}
	return strings.CutPrefix(lineIndent(d.body, first.StartOffset), lineIndent(d.body, v.EndOffset-1))
}

// beginsLine reports whether nothing but blanks stands before an offset in its
// line, and a line before that.
func (d *jsonText) beginsLine(offset int) bool {
	before := bytes.TrimRight(d.body[:offset], " \t")
	return bytes.HasSuffix(before, []byte("\n"))
}

// append appends a value, which begins in a line that is indented by indent.
func (s style) append(b []byte, v hujson.ValueTrimmed, indent string) []byte {
	switch v := v.(type) {
	case *hujson.Object:
		return s.appendAll(b, '{', '}', len(v.Members), indent, func(b []byte, i int, indent string) []byte {
			return s.appendMember(b, v.Members[i], indent)
		})
	case *hujson.Array:
		return s.appendAll(b, '[', ']', len(v.Elements), indent, func(b []byte, i int, indent string) []byte {
			return s.append(b, v.Elements[i].Value, indent)
		})
	case hujson.Literal:
		return append(b, v...)
	default:
		return b
	}
}

func (s style) appendMember(b []byte, m hujson.ObjectMember, indent string) []byte {
	b = append(s.append(b, m.Name.Value, indent), s.colon...)
	return s.append(b, m.Value.Value, indent)
}

func (s style) appendAll(b []byte, open, closing byte, n int, indent string, appendOne func(b []byte, i int, indent string) []byte) []byte {
	b = append(b, open)
	switch {
	case n == 0:
	case s.lines:
		for i := range n {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(b, s.newline+indent+s.unit...)
			b = appendOne(b, i, indent+s.unit)
		}
		if s.comma {
			b = append(b, ',')
		}
		b = append(b, s.newline+indent...)
	default:
		b = append(b, s.padding...)
		for i := range n {
			if i > 0 {
				b = append(b, ","+s.between...)
			}
			b = appendOne(b, i, indent)
		}
		b = append(b, s.padding...)
	}
	return append(b, closing)
}
