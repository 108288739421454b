package stdio

import (
	"bytes"
	"encoding/json"
)

// message reports whether line is one JSON-RPC 2.0 message, or a batch of
// them, with members of the types that the specification gives them.
func message(line []byte) bool {
	if trimmed := bytes.TrimSpace(line); trimmed[0] == '[' {
		var batch []json.RawMessage
		if err := json.Unmarshal(trimmed, &batch); err != nil || len(batch) == 0 {
			return false
		}
		for _, m := range batch {
			if !single(m) {
				return false
			}
		}
		return true
	}
	return single(line)
}

func single(text []byte) bool {
	var m struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Method  *string         `json:"method"`
		Params  json.RawMessage `json:"params"`
		Result  json.RawMessage `json:"result"`
		Error   json.RawMessage `json:"error"`
	}
	if err := json.Unmarshal(text, &m); err != nil || m.Version != "2.0" {
		return false
	}
	if len(m.ID) > 0 {
		switch m.ID[0] {
		case '{', '[', 't', 'f':
			return false
		}
	}
	if m.Method == nil {
		return len(m.ID) > 0 && (m.Result != nil || m.Error != nil)
	}
	return len(m.Params) == 0 || m.Params[0] == '{' || m.Params[0] == '[' || m.Params[0] == 'n'
}

// protocolError is an error response to a message whose id is not known.
func protocolError(code int, text string) []byte {
	b, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": nil, "error": map[string]any{"code": code, "message": text},
	})
	if err != nil {
		return nil
	}
	return append(b, '\n')
}

// requests counts the requests of a message or batch that passed the filter.
func requests(line []byte) int {
	n := 0
	for _, m := range parts(line) {
		var r struct {
			ID     json.RawMessage `json:"id"`
			Method *string         `json:"method"`
		}
		if json.Unmarshal(m, &r) == nil && r.Method != nil && len(r.ID) > 0 && string(r.ID) != "null" {
			n++
		}
	}
	return n
}

// responses counts the responses of a message or batch that the SDK wrote. It
// reads no further than it must: an answer may be large.
func responses(text []byte) int {
	n := 0
	for _, m := range parts(text) {
		if response(m) {
			n++
		}
	}
	return n
}

func parts(text []byte) []json.RawMessage {
	text = bytes.TrimSpace(text)
	if len(text) == 0 || text[0] != '[' {
		return []json.RawMessage{text}
	}
	var batch []json.RawMessage
	if err := json.Unmarshal(text, &batch); err != nil {
		return nil
	}
	return batch
}

func response(m []byte) bool {
	d := json.NewDecoder(bytes.NewReader(m))
	if _, err := d.Token(); err != nil {
		return false
	}
	for {
		key, err := d.Token()
		switch {
		case err != nil, key == "method":
			return false
		case key == "result", key == "error":
			return true
		}
		var skipped json.RawMessage
		if err := d.Decode(&skipped); err != nil {
			return false
		}
	}
}
