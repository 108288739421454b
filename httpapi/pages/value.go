package pages

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"time"
	"unicode"
)

// member is a member of a JSON object. Objects are lists of them, in their order.
type member struct {
	Name  string
	Value any
}

// members is a JSON object.
type members []member

func (m members) get(name string) any {
	for _, one := range m {
		if one.Name == name {
			return one.Value
		}
	}
	return nil
}

func (m members) text(name string) string {
	text, _ := m.get(name).(string)
	return text
}

// but returns the members without some.
func (m members) but(names ...string) members {
	return slices.DeleteFunc(slices.Clone(m), func(one member) bool { return slices.Contains(names, one.Name) })
}

func (m members) list(name string) []any {
	list, _ := m.get(name).([]any)
	return list
}

// readValue reads JSON: nil, bool, json.Number, string, []any and members.
func readValue(data []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	v, err := nextValue(d)
	if err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the value")
	}
	return v, nil
}

func nextValue(d *json.Decoder) (any, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch token {
	case json.Delim('['):
		list := []any{}
		for d.More() {
			v, err := nextValue(d)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err = d.Token()
		return list, err
	case json.Delim('{'):
		object := members{}
		for d.More() {
			name, err := d.Token()
			if err != nil {
				return nil, err
			}
			v, err := nextValue(d)
			if err != nil {
				return nil, err
			}
			text, _ := name.(string)
			object = append(object, member{text, v})
		}
		_, err = d.Token()
		return object, err
	default:
		return token, nil
	}
}

// value writes a value of JSON: objects as lists of facts, lists of objects as tables.
func (d *document) value(v any) {
	switch v := v.(type) {
	case nil:
		d.Put(`<span class="quiet">–</span>`)
	case bool:
		if v {
			d.Put(`yes`)
		} else {
			d.Put(`no`)
		}
	case json.Number:
		d.Put(`%s`, v.String())
	case string:
		if strings.Contains(v, "\n") {
			d.Put(`<pre tabindex="0"><bdi>%s</bdi></pre>`, v)
		} else {
			d.Put(`<bdi>%s</bdi>`, v)
		}
	case time.Time:
		d.time(v)
	case members:
		d.facts(v)
	case []any:
		d.values(v)
	}
}

// spaced writes the name of a member as words: estimatedRows is estimated rows.
func spaced(name string) string {
	var b strings.Builder
	for i, r := range name {
		if i > 0 && unicode.IsUpper(r) {
			b.WriteByte(' ')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

func (d *document) facts(m members) {
	d.Put(`<dl class="facts">`)
	for _, one := range m {
		d.Put(`<dt>%s</dt><dd>`, spaced(one.Name))
		text, _ := one.Value.(string)
		if at, err := time.Parse(time.RFC3339, text); err == nil {
			d.time(at)
		} else {
			d.value(one.Value)
		}
		d.Put(`</dd>`)
	}
	d.Put(`</dl>`)
}

// values writes a list: as a table if all of it are objects.
func (d *document) values(list []any) {
	var columns []string
	seen := map[string]bool{}
	for _, v := range list {
		m, ok := v.(members)
		if !ok {
			columns = nil
			break
		}
		for _, one := range m {
			if !seen[one.Name] {
				seen[one.Name] = true
				columns = append(columns, one.Name)
			}
		}
	}
	if len(list) == 0 {
		d.value(nil)
		return
	}
	if len(columns) == 0 {
		for i, v := range list {
			if i > 0 {
				d.Put(`, `)
			}
			d.value(v)
		}
		return
	}
	headings := make([]string, len(columns))
	for i, c := range columns {
		headings[i] = spaced(c)
	}
	d.table("", headings, func(row func(cells ...any)) {
		for _, v := range list {
			m, _ := v.(members)
			cells := make([]any, len(columns))
			for i, c := range columns {
				cells[i] = m.get(c)
			}
			row(cells...)
		}
	})
}

// anchor is a cell that leads somewhere. The address is one of ours.
type anchor struct{ Text, Href string }

// table writes a table whose rows the function adds. A column of numbers alone is aligned
// to the right, with its heading.
func (d *document) table(label string, columns []string, rows func(row func(cells ...any))) {
	var all [][]any
	rows(func(cells ...any) { all = append(all, cells) })
	numbers := make([]bool, len(columns))
	for i := range columns {
		for _, cells := range all {
			if i >= len(cells) || cells[i] == nil {
				continue
			}
			if numbers[i] = isNumber(cells[i]); !numbers[i] {
				break
			}
		}
	}
	d.Put(`<div class="scroll" tabindex="0"`)
	if label != "" {
		d.Put(` role="region" aria-label="%s"`, label)
	}
	d.Put(`><table><thead><tr>`)
	for i, c := range columns {
		if numbers[i] {
			d.Put(`<th scope="col" class="n">%s</th>`, c)
		} else {
			d.Put(`<th scope="col">%s</th>`, c)
		}
	}
	d.Put(`</tr></thead><tbody>`)
	for _, cells := range all {
		d.Put(`<tr>`)
		for i, c := range cells {
			switch c := c.(type) {
			case anchor:
				d.Put(`<td><a href="%s"><bdi>%s</bdi></a></td>`, c.Href, c.Text)
			case json.Number:
				d.Put(`<td class="n">%s</td>`, c.String())
			case int64:
				d.Put(`<td class="n">%s</td>`, group(c))
			default:
				switch text, _ := c.(string); {
				case i < len(numbers) && numbers[i]:
					d.Put(`<td class="n">`)
				case len(text) > maxLine || len(text) > maxWords && strings.Contains(text, " ") || isCompound(c):
					d.Put(`<td class="wrap">`)
				default:
					d.Put(`<td>`)
				}
				d.value(c)
				d.Put(`</td>`)
			}
		}
		d.Put("</tr>\n")
	}
	d.Put(`</tbody></table></div>`)
}

// How many bytes a text of a table may have before it is broken into lines: one without
// spaces, and one of words.
const (
	maxLine  = 36
	maxWords = 20
)

// isCompound reports whether a value holds others.
func isCompound(cell any) bool {
	switch cell.(type) {
	case members, []any:
		return true
	}
	return false
}

func isNumber(cell any) bool {
	switch cell.(type) {
	case json.Number, int64:
		return true
	}
	return false
}
