package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
)

const schema = "ktx-check/1"

func encoder(w io.Writer) *json.Encoder {
	e := json.NewEncoder(escaping{w})
	e.SetEscapeHTML(false)
	return e
}

// writeJSON writes one document with the whole verdicts. It holds one statement
// or finding of it in memory at a time.
func writeJSON(w io.Writer, c *Check) error {
	b := bufio.NewWriterSize(w, flushAt)
	d := &document{w: escaping{b}}
	d.value("{\n  \"schema\": ", schema, "  ")
	d.value(",\n  \"summary\": ", c.Summary, "  ")
	d.list(",\n  \"files\": ", "  ", len(c.Files), func(i int) {
		file := &c.Files[i]
		d.value("{\n      \"path\": ", file.Path, "      ")
		if file.Dialect != "" {
			d.value(",\n      \"dialect\": ", file.Dialect, "      ")
		}
		if file.Skipped != "" {
			d.value(",\n      \"skipped\": ", file.Skipped, "      ")
		}
		if file.Spooled != nil {
			d.text(",\n      \"statements\": [")
			if d.err == nil {
				d.err = c.Spool.copy(d.w, file)
			}
			d.text("\n      ]")
		} else {
			d.value(",\n      \"statements\": ", file.Statements, "      ")
		}
		d.list(",\n      \"findings\": ", "      ", len(file.Findings), func(j int) {
			d.value("", &file.Findings[j], "        ")
		})
		d.text("\n    }")
	})
	d.text("\n}\n")
	if d.err == nil {
		d.err = b.Flush()
	}
	return d.err
}

// document writes a JSON document in parts. Each part ends outside of a string.
type document struct {
	w   io.Writer
	err error
}

func (d *document) text(part string) {
	if d.err == nil {
		_, d.err = io.WriteString(d.w, part)
	}
}

// value writes what stands before a value, and the value with its lines behind
// the first indented.
func (d *document) value(before string, v any, indent string) {
	if d.err != nil {
		return
	}
	var text []byte
	if text, d.err = indented(v, indent); d.err == nil {
		d.text(before)
		d.text(string(text))
	}
}

// list writes what stands before a list, and the list of n values that write
// writes.
func (d *document) list(before, indent string, n int, write func(i int)) {
	d.text(before + "[")
	for i := range n {
		if i > 0 {
			d.text(",")
		}
		d.text("\n" + indent + "  ")
		write(i)
	}
	if n > 0 {
		d.text("\n" + indent)
	}
	d.text("]")
}

// indented returns a value as JSON, with its lines behind the first indented.
func indented(v any, indent string) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err //nolint:wrapcheck // Write says what it did
	}
	return appendIndented(make([]byte, 0, 2*b.Len()), bytes.TrimSuffix(b.Bytes(), []byte{'\n'}), indent), nil
}

// appendIndented appends compact JSON in the form of [json.Indent], several times faster,
// because it does not check what the encoder wrote.
func appendIndented(out, compact []byte, indent string) []byte {
	depth := 0
	line := func() {
		out = append(out, '\n')
		out = append(out, indent...)
		for range depth {
			out = append(out, "  "...)
		}
	}
	for i := 0; i < len(compact); i++ {
		switch c := compact[i]; c {
		case '"':
			end := i + 1
			for compact[end] != '"' {
				if compact[end] == '\\' {
					end++
				}
				end++
			}
			out = append(out, compact[i:end+1]...)
			i = end
		case '{', '[':
			out = append(out, c)
			if next := compact[i+1]; next == '}' || next == ']' {
				out = append(out, next)
				i++
				continue
			}
			depth++
			line()
		case '}', ']':
			depth--
			line()
			out = append(out, c)
		case ',':
			out = append(out, c)
			line()
		case ':':
			out = append(out, ':', ' ')
		default:
			out = append(out, c)
		}
	}
	return out
}

// writeJSONL writes a line for each finding, and a last line with the summary.
func writeJSONL(w io.Writer, c *Check) error {
	b := bufio.NewWriter(w)
	e := encoder(b)
	for i := range c.Files {
		file := &c.Files[i]
		for j := range file.Findings {
			f := &file.Findings[j]
			line := struct {
				Type    string `json:"type"`
				File    string `json:"file"`
				Dialect string `json:"dialect,omitempty"`
				*Finding
			}{"finding", file.Path, file.Dialect, f}
			if err := e.Encode(line); err != nil {
				return err //nolint:wrapcheck // Write says what it did
			}
		}
	}
	last := struct {
		Type   string `json:"type"`
		Schema string `json:"schema"`
		Summary
	}{"summary", schema, c.Summary}
	if err := e.Encode(last); err != nil {
		return err //nolint:wrapcheck // as above
	}
	return b.Flush() //nolint:wrapcheck // as above
}
