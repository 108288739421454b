package stdio

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// messages returns the messages of a line, or the error response for a line that
// has no valid message. It splits a batch into single messages, which are answered
// one by one; every version of the protocol with batches permits that. The SDK
// itself waits for answers to the notifications of a batch, and ends a session whose
// version has no batches.
func messages(line []byte) (list [][]byte, problem []byte) {
	line = bytes.TrimSpace(line)
	switch {
	case len(line) == 0:
		return nil, nil
	case !json.Valid(line), !utf8.Valid(line): // a decoder would replace bytes that are not UTF-8
		return nil, protocolError(-32700, "Parse error: the line is not JSON")
	case line[0] != '[':
		if !message(line) {
			return nil, notAMessage()
		}
		return [][]byte{line}, nil
	}
	var batch []json.RawMessage
	if err := json.Unmarshal(line, &batch); err != nil || len(batch) == 0 {
		return nil, notAMessage()
	}
	for _, m := range batch {
		if message(m) {
			list = append(list, m)
		} else {
			problem = append(problem, notAMessage()...)
		}
	}
	return list, problem
}

// message reports whether text is one JSON-RPC 2.0 message that the SDK can read,
// and its members have the types of the specification.
func message(text []byte) bool {
	if _, err := jsonrpc.DecodeMessage(text); err != nil {
		return false
	}
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

func notAMessage() []byte {
	return protocolError(-32600, "Invalid Request: not a JSON-RPC 2.0 message")
}

// protocolError returns an error response to a message whose id is unknown.
func protocolError(code int, text string) []byte {
	b, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": nil, "error": map[string]any{"code": code, "message": text},
	})
	if err != nil {
		return nil
	}
	return append(b, '\n')
}

// requests returns 1 for a request, which needs an answer, and 0 for every other
// message.
func requests(text []byte) int {
	m, err := jsonrpc.DecodeMessage(text)
	if r, ok := m.(*jsonrpc.Request); err == nil && ok && r.IsCall() {
		return 1
	}
	return 0
}

// responses returns 1 for a response and 0 for every other message of the SDK. It
// reads only the beginning of the message, because an answer may be large.
func responses(text []byte) int {
	d := json.NewDecoder(bytes.NewReader(text))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return 0
	}
	for {
		key, err := d.Token()
		switch {
		case err != nil, key == "method":
			return 0
		case key == "result", key == "error":
			return 1
		}
		var skipped json.RawMessage
		if err := d.Decode(&skipped); err != nil {
			return 0
		}
	}
}
