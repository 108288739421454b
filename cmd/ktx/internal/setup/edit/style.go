package edit

import (
	"bytes"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// style is the format of the text around a place.
type style struct {
	lines   bool   // each member is on its own line
	newline string // the line end
	unit    string // the indentation of one level
	indent  string // the indentation of the members
	closing string // the indentation of the closing brace
	colon   string // the colon with the blanks around it
	between string // the text after a comma within a line
	padding string // the text inside the braces of an object on one line
	comma   bool   // the last member has a comma
}

// styleOf returns the style of the innermost object around p. It takes the
// style from its members, or from the object around it if it has none.
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

// isBlank reports whether extra has nothing but blanks, without a line end.
func isBlank(extra []byte) bool { return len(bytes.Trim(extra, " \t")) == 0 }

// hasLine reports whether extra has a line end.
func hasLine(extra []byte) bool { return bytes.IndexByte(extra, '\n') >= 0 }

// unit returns the indentation of one level: in the given objects, the
// innermost first, else anywhere in the text, else two spaces.
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

// unitOf returns how much more the members of an object, or the elements of a
// list, are indented than its closing bracket. It needs both to be at the start
// of a line.
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

// beginsLine reports whether there are only blanks before an offset on its
// line, and the line is not the first.
func (d *jsonText) beginsLine(offset int) bool {
	before := bytes.TrimRight(d.body[:offset], " \t")
	return bytes.HasSuffix(before, []byte("\n"))
}

// append appends a value. The line in which it begins is indented by indent.
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
