package corpus

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// DecodeFile decodes one class file that was converted from YAML to JSON. It
// returns the cases with their class and dialect. name is the path of the file
// in the corpus, such as "postgres/select-into.yaml", and must agree with the
// content unless it is empty. schema.json describes the format. A field that
// the schema does not have is an error.
func DecodeFile(name string, doc []byte) ([]Case, error) {
	var file struct {
		Schema  string            `json:"schema"`
		Class   string            `json:"class"`
		Dialect string            `json:"dialect"`
		Cases   []json.RawMessage `json:"cases"`
	}
	if err := strict(doc, &file); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if file.Schema != Schema {
		return nil, fmt.Errorf("%s: schema is %q, not %q", name, file.Schema, Schema)
	}
	if want := file.Dialect + "/" + file.Class + ".yaml"; name != "" && name != want {
		return nil, fmt.Errorf("%s: holds class %q of dialect %q, which belongs into %s", name, file.Class, file.Dialect, want)
	}
	cases := make([]Case, 0, len(file.Cases))
	for i, raw := range file.Cases {
		c, err := DecodeCase(raw)
		if err != nil {
			return nil, fmt.Errorf("%s: case %d: %w", name, i+1, err)
		}
		c.Class, c.Dialect = file.Class, file.Dialect
		cases = append(cases, c)
	}
	return cases, nil
}

// DecodeCase decodes one case of a class file that was converted to JSON. A
// field that schema.json does not have is an error.
func DecodeCase(doc []byte) (Case, error) {
	var fields wire
	if err := strict(doc, &fields); err != nil {
		return Case{}, err
	}
	var c Case
	if err := json.Unmarshal(doc, &c); err != nil {
		return Case{}, err
	}
	if fields.SQLB64 != nil && !needsBase64(c.SQL) {
		return Case{}, errors.New("sql_b64 is not needed; write the text as sql")
	}
	return c, nil
}

func strict(data []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("text after the end of the document")
	}
	return nil
}

// WriteJSON writes the version and the cases as in cases.json: one case on each
// line, in ASCII, so that every character of a case is visible in a diff.
func WriteJSON(w io.Writer, version string, cases []Case) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "{\n\"schema\": %q,\n\"version\": %q,\n\"cases\": [\n", Schema, version)
	for i, c := range cases {
		line, err := encodeLine(c)
		if err != nil {
			return fmt.Errorf("write case %s: %w", c.ID, err)
		}
		b.Write(line)
		if i < len(cases)-1 {
			b.WriteByte(',')
		}
		b.WriteByte('\n')
	}
	b.WriteString("]\n}\n")
	_, err := w.Write(b.Bytes())
	return err
}

// encodeLine returns c as one line of ASCII JSON, without the line end.
func encodeLine(c Case) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(c); err != nil {
		return nil, err
	}
	return ascii(bytes.TrimRight(b.Bytes(), "\n")), nil
}

// ascii escapes every character of a JSON text that is not ASCII. In valid
// JSON, such characters occur in strings only.
func ascii(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		switch {
		case r == 0x7f:
			out = append(out, `\u007f`...)
		case r < utf8.RuneSelf:
			out = append(out, text[0])
		case r > 0xFFFF:
			r -= 0x10000
			out = fmt.Appendf(out, `\u%04x\u%04x`, 0xD800+r>>10, 0xDC00+r&0x3FF)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		text = text[n:]
	}
	return out
}
