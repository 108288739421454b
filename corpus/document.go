package corpus

import (
	"bytes"
	"encoding/json"
)

// Lines returns the cases of a JSON document, such as cases.json, as JSON Lines. A case has
// the number of the line where it begins in the document. Any other text is returned
// unchanged.
func Lines(document []byte) []byte {
	if !json.Valid(document) {
		return document
	}
	d := json.NewDecoder(bytes.NewReader(document))
	if start, _ := d.Token(); start != json.Delim('{') {
		return document
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return document
		}
		if name == "cases" {
			return caseLines(document, d)
		}
		var skipped json.RawMessage
		if d.Decode(&skipped) != nil {
			return document
		}
	}
	return document
}

// caseLines writes the elements of the list that the decoder is at, one on each line.
func caseLines(document []byte, d *json.Decoder) []byte {
	if start, _ := d.Token(); start != json.Delim('[') {
		return document
	}
	var out bytes.Buffer
	read, line, written := 0, 1, 1
	for d.More() {
		var element json.RawMessage
		if d.Decode(&element) != nil {
			return document
		}
		start := int(d.InputOffset()) - len(element)
		line += bytes.Count(document[read:start], []byte("\n"))
		read = start
		for ; written < line; written++ {
			out.WriteByte('\n')
		}
		if json.Compact(&out, element) != nil {
			return document
		}
		out.WriteByte('\n')
		written++
	}
	return out.Bytes()
}
