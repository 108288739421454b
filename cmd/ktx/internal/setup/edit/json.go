package edit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tailscale/hujson"
)

// jsonText is a JSON text. Offsets in root are offsets in body.
type jsonText struct {
	text []byte       // the whole file
	skip int          // the length of the byte order mark
	body []byte       // the text after the mark
	root hujson.Value // an object
	// values has the values of root.
	values object
}

func readJSON(text []byte) (*jsonText, error) {
	d := &jsonText{text: text, root: hujson.Value{Value: &hujson.Object{}}}
	if bytes.HasPrefix(text, []byte(bom)) {
		d.skip = len(bom)
	}
	d.body = text[d.skip:]
	if isEmpty(d.body) {
		return d, nil
	}
	if err := d.checkDepth(); err != nil {
		return nil, err
	}
	// The parser requires a line end after a comment at the end of the text.
	value, err := hujson.Parse(append(bytes.Clone(d.body), '\n'))
	if err != nil {
		return nil, d.parseError(err)
	}
	root, ok := value.Value.(*hujson.Object)
	if !ok {
		return nil, at(text, d.skip+value.StartOffset, "the text is not an object")
	}
	d.root = value
	d.values = membersOf(root)
	return d, nil
}

// parseError converts an error of the parser. It quotes nothing of the text,
// because that may be a secret.
func (d *jsonText) parseError(err error) error {
	var line, column int
	if _, scanErr := fmt.Sscanf(err.Error(), "hujson: line %d, column %d:", &line, &column); scanErr != nil {
		return err
	}
	_, message, _ := strings.Cut(err.Error(), fmt.Sprintf("column %d: ", column))
	if strings.HasPrefix(message, "invalid literal") {
		message = "invalid literal"
	}
	return at(d.text, offsetOf(d.body, line, column)+d.skip, "%s", message)
}

// checkDepth refuses a nesting depth with which the recursive parser would
// overflow the stack.
func (d *jsonText) checkDepth() error {
	depth := 0
	for i := 0; i < len(d.body); i++ {
		switch d.body[i] {
		case '"':
			for i++; i < len(d.body) && d.body[i] != '"'; i++ {
				if d.body[i] == '\\' {
					i++
				}
			}
		case '/':
			i += max(commentLength(d.body[i:])-1, 0)
		case '[', '{':
			if depth++; depth > maxDepth {
				return at(d.text, d.skip+i, "values are nested more than %d deep", maxDepth)
			}
		case ']', '}':
			depth--
		}
	}
	return nil
}

// commentLength returns the length of the comment at the start of b, without
// its line end, or 0.
func commentLength(b []byte) int {
	switch {
	case bytes.HasPrefix(b, []byte("//")):
		line, _, ended := bytes.Cut(b, []byte("\n"))
		if ended {
			line = bytes.TrimSuffix(line, []byte("\r"))
		}
		return len(line)
	case bytes.HasPrefix(b, []byte("/*")):
		if i := bytes.Index(b[2:], []byte("*/")); i >= 0 {
			return i + 4
		}
		return len(b)
	default:
		return 0
	}
}

// commentsEnd returns the end of the last comment in extra, and whether that is
// a comment up to the end of its line.
func commentsEnd(extra []byte) (end int, line bool) {
	for i := 0; i < len(extra); i++ {
		if n := commentLength(extra[i:]); n > 0 {
			line = extra[i+1] == '/'
			i += n
			end = i
		}
	}
	return end, line
}

func membersOf(o *hujson.Object) object {
	all := object{}
	for _, m := range o.Members {
		all = append(all, member{nameOf(m), valueOf(m.Value.Value)})
	}
	return all
}

func valueOf(v hujson.ValueTrimmed) any {
	switch v := v.(type) {
	case *hujson.Object:
		return membersOf(v)
	case *hujson.Array:
		all := list{}
		for _, e := range v.Elements {
			all = append(all, valueOf(e.Value))
		}
		return all
	case hujson.Literal:
		return scalar(v)
	default:
		return nil
	}
}

func nameOf(m hujson.ObjectMember) string {
	name, _ := m.Name.Value.(hujson.Literal)
	return name.String()
}

func (d *jsonText) tree() object { return d.values }

func (d *jsonText) trailing() int { return trailingCommas(d.root.Value) }

func trailingCommas(v hujson.ValueTrimmed) int {
	n := 0
	switch v := v.(type) {
	case *hujson.Object:
		for _, m := range v.Members {
			n += trailingCommas(m.Value.Value)
		}
		if trailing(v) {
			n++
		}
	case *hujson.Array:
		for _, e := range v.Elements {
			n += trailingCommas(e.Value)
		}
		if last := len(v.Elements) - 1; last >= 0 && v.Elements[last].AfterExtra != nil {
			n++
		}
	}
	return n
}

func indexOf(o *hujson.Object, key string) int {
	for i, m := range o.Members {
		if nameOf(m) == key {
			return i
		}
	}
	return -1
}

func (d *jsonText) check(path []string) error {
	o := objectOf(&d.root)
	for n, key := range path {
		i := indexOf(o, key)
		if i < 0 {
			return nil
		}
		for _, m := range o.Members[i+1:] {
			if nameOf(m) == key {
				return at(d.text, d.skip+m.Name.StartOffset, "%s occurs twice", strings.Join(path[:n+1], "."))
			}
		}
		if o = objectOf(&o.Members[i].Value); o == nil {
			return nil
		}
	}
	return nil
}

// objectOf returns the object that a value is, or nil.
func objectOf(v *hujson.Value) *hujson.Object {
	o, _ := v.Value.(*hujson.Object)
	return o
}

// A place is a member: the objects around it, from the root inwards, and its
// index in the last of them. If the member does not exist, around has the
// objects that exist and index is -1.
type place struct {
	around []*hujson.Value
	index  int
}

func (p place) value() *hujson.Value   { return p.around[len(p.around)-1] }
func (p place) object() *hujson.Object { return objectOf(p.value()) }
func (p place) member() *hujson.ObjectMember {
	return &p.object().Members[p.index]
}

// find returns the place of path. It fails if a parent is not an object.
func (d *jsonText) find(path []string) (place, error) {
	p := place{around: []*hujson.Value{&d.root}}
	for n, key := range path {
		p.index = indexOf(p.object(), key)
		if p.index < 0 || n == len(path)-1 {
			return p, nil
		}
		value := &p.member().Value
		if objectOf(value) == nil {
			return p, at(d.text, d.skip+value.StartOffset, "%s is not an object", strings.Join(path[:n+1], "."))
		}
		p.around = append(p.around, value)
	}
	return p, nil
}

func (d *jsonText) where(path []string) span {
	p, err := d.find(path)
	if err != nil || p.index < 0 {
		return span{}
	}
	return span{d.skip + p.member().Name.StartOffset, d.skip + p.member().Value.EndOffset}
}

// commaOf returns the offset of the comma after a value.
func commaOf(v *hujson.Value) int { return v.EndOffset + len(v.AfterExtra) }

// trailing reports whether the last member has a comma after it.
func trailing(o *hujson.Object) bool {
	return len(o.Members) > 0 && o.Members[len(o.Members)-1].Value.AfterExtra != nil
}

func (d *jsonText) commaBefore(path []string) (int, bool) {
	p, err := d.find(path)
	if err != nil || p.index < 1 {
		return 0, false
	}
	return d.skip + commaOf(&p.object().Members[p.index-1].Value), true
}

func (d *jsonText) set(path []string, raw json.RawMessage) (Splice, error) {
	p, err := d.find(path)
	if err != nil {
		return Splice{}, err
	}
	value, err := hujson.Parse(raw)
	if err != nil {
		return Splice{}, err
	}
	style := d.styleOf(p)
	if p.index >= 0 {
		old := &p.member().Value
		return Splice{
			Offset:   d.skip + old.StartOffset,
			Removed:  string(d.body[old.StartOffset:old.EndOffset]),
			Inserted: string(style.append(nil, value.Value, lineIndent(d.body, p.member().Name.StartOffset))),
		}, nil
	}
	keys := path[len(p.around)-1:]
	for i := len(keys) - 1; i > 0; i-- {
		value.Value = &hujson.Object{Members: []hujson.ObjectMember{{Name: hujson.Value{Value: hujson.String(keys[i])}, Value: value}}}
	}
	added := hujson.ObjectMember{Name: hujson.Value{Value: hujson.String(keys[0])}, Value: value}
	if isEmpty(d.body) {
		root := &hujson.Object{Members: []hujson.ObjectMember{added}}
		return Splice{Offset: d.skip, Removed: string(d.body), Inserted: string(append(style.append(nil, root, ""), style.newline...))}, nil
	}
	return d.insert(p.value(), added, style), nil
}

// insert adds a member after the last one and after its comments.
func (d *jsonText) insert(around *hujson.Value, added hujson.ObjectMember, style style) Splice {
	var s Splice
	o := objectOf(around)
	end, lineComment := commentsEnd(o.AfterExtra)
	rest := string(o.AfterExtra[end:])
	style.lines = style.lines || lineComment
	before, after := style.newline+style.indent, ""
	if !style.lines {
		before = style.between
	}
	if n := len(o.Members); n > 0 {
		last := &o.Members[n-1].Value
		s.Offset = last.EndOffset
		switch {
		case trailing(o):
			s.Offset = commaOf(last) + 1
			after = ","
		case end > 0:
			s.CommaAt = d.skip + last.EndOffset
		default:
			before = "," + before
		}
	} else {
		s.Offset = around.StartOffset + 1
		switch {
		case style.lines && !strings.Contains(rest, "\n"):
			s.Removed = rest
			after = style.newline + style.closing
		case !style.lines && end == 0:
			s.Removed = rest
			before, after = style.padding, style.padding
		}
		if style.comma && style.lines {
			after = "," + after
		}
	}
	s.Offset += d.skip + end
	s.Inserted = before + string(style.appendMember(nil, added, style.indent)) + after
	return s
}

func (d *jsonText) cuts(path []string, parents int) ([]span, error) {
	p, err := d.find(path)
	if err != nil {
		return nil, err
	}
	for ; parents > 0 && len(p.around) > 1 && len(p.object().Members) == 1; parents-- {
		m := p.member()
		if !isEmpty(m.Name.BeforeExtra) || !isEmpty(m.Value.AfterExtra) || !isEmpty(p.object().AfterExtra) {
			break // the user's own comments stay
		}
		if p, err = d.find(path[:len(p.around)-1]); err != nil {
			return nil, err
		}
	}
	return d.cutMember(p), nil
}

// cutMember removes a member with its comma and line, and leaves the comments
// around it.
func (d *jsonText) cutMember(p place) []span {
	o, m := p.object(), p.member()
	cuts := []span{{m.Name.StartOffset, m.Value.EndOffset}}
	behind := m.Value.EndOffset
	switch {
	case p.index < len(o.Members)-1 || trailing(o):
		comma := commaOf(&m.Value)
		if isEmpty(m.Value.AfterExtra) {
			cuts[0].end = comma + 1
		} else {
			cuts = append(cuts, span{comma, comma + 1})
		}
		behind = comma + 1
	case p.index > 0:
		comma := commaOf(&o.Members[p.index-1].Value)
		cuts = append(cuts, span{comma, comma + 1})
	}
	before := m.Name.BeforeExtra
	gap := before[len(bytes.TrimRight(before, blanks)):]
	if end, line := commentsEnd(before); line {
		gap = before[end:]
	}
	rest := bytes.TrimLeft(d.body[behind:], " \t\r")
	switch last := p.index == len(o.Members)-1; {
	case len(o.Members) == 1 && isEmpty(before) && isEmpty(m.Value.AfterExtra) && isEmpty(o.AfterExtra):
		cuts[0] = span{m.Name.StartOffset - len(before), behind + len(o.AfterExtra)}
	case len(rest) > 0 && rest[0] == '\n' || last && !bytes.Contains(gap, []byte("\n")):
		cuts[0].start -= len(gap) // the line end or the brace follows
	case cuts[0].end == behind:
		cuts[0].end = len(d.body) - len(rest)
	}
	for i := range cuts {
		cuts[i].start += d.skip
		cuts[i].end += d.skip
	}
	return cuts
}
