// Package rpc reads and writes JSON-RPC 2.0 messages for the transports of MCP.
//
// It reads a message once, and hands it to the SDK as a [jsonrpc.Message]. It keeps
// IDs that the SDK would change, such as 1.5: see [MakeID]. It knows no method.
package rpc

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// maxDepth bounds how deep the objects and arrays of a message are nested. The
// SDK reads no deeper ones.
const maxDepth = 1000

// Texts returns the messages of a line, or the error response for a line that has
// none. It splits a batch into single messages, which are answered one by one;
// every version of the protocol with batches permits that.
func Texts(line []byte) (list [][]byte, problem []byte) {
	line = bytes.TrimSpace(line)
	switch {
	case len(line) == 0:
		return nil, nil
	case !json.Valid(line), !utf8.Valid(line): // a decoder would replace bytes that are not UTF-8
		return nil, ProtocolError(jsonrpc.CodeParseError, "Parse error: the line is not JSON")
	case line[0] != '[':
		return [][]byte{line}, nil
	}
	var batch []json.RawMessage
	if err := json.Unmarshal(line, &batch); err != nil || len(batch) == 0 {
		return nil, NotAMessage()
	}
	for _, m := range batch {
		list = append(list, m)
	}
	return list, nil
}

// ErrMessage is the error for a text that is JSON, but not a JSON-RPC 2.0 message.
var ErrMessage = errors.New("not a JSON-RPC 2.0 message")

// Members are the members of a JSON-RPC message, as they are written. The value of
// a member that is not there is nil.
type Members struct {
	Version, ID, Method, Params, Result, Error json.RawMessage
}

// Decode reads one message from valid JSON. The parts of the message share the
// memory of text. This is the only place that reads a message: the SDK gets what is
// found here, and does not read the text again.
func Decode(text []byte) (jsonrpc.Message, error) {
	m, ok := Split(text)
	if !ok || string(m.Version) != `"2.0"` {
		return nil, ErrMessage
	}
	id, ok := MakeID(m.ID)
	if !ok {
		return nil, ErrMessage
	}
	if m.Method == nil {
		if !id.IsValid() || m.Result == nil && m.Error == nil {
			return nil, ErrMessage
		}
		msg, err := jsonrpc.DecodeMessage(text) // ktx makes no requests, so there are hardly any responses
		if r, ok := msg.(*jsonrpc.Response); err == nil && ok {
			r.ID = id
			return r, nil
		}
		return nil, ErrMessage
	}
	method, ok := Unquote(m.Method)
	if !ok || len(m.Params) > 0 && !bytes.ContainsRune([]byte("{[n"), rune(m.Params[0])) {
		return nil, ErrMessage
	}
	return &jsonrpc.Request{ID: id, Method: method, Params: m.Params}, nil
}

// Split returns the members of a JSON object. text must be valid JSON. Of members
// with the same name the last counts. It returns false for another value than an
// object, and for one that is nested too deep.
func Split(text []byte) (m Members, ok bool) {
	deep := false
	object := members(text, func(name string, value json.RawMessage, shallow bool) bool {
		if deep = !shallow; deep {
			return false
		}
		switch name {
		case "jsonrpc":
			m.Version = value
		case "id":
			m.ID = value
		case "method":
			m.Method = value
		case "params":
			m.Params = value
		case "result":
			m.Result = value
		case "error":
			m.Error = value
		}
		return true
	})
	return m, object && !deep
}

// Member returns a member of the object text, nil when it has none. text must be
// valid JSON.
func Member(text []byte, want string) (value json.RawMessage) {
	members(text, func(name string, v json.RawMessage, _ bool) bool {
		if name == want {
			value = v
		}
		return true
	})
	return value
}

// members calls take for the members of a valid JSON text, in order, until it returns
// false; shallow is false for a value that is nested too deep. It reports whether the text
// is an object.
func members(text []byte, take func(name string, value json.RawMessage, shallow bool) bool) (object bool) {
	text = bytes.TrimSpace(text)
	if len(text) == 0 || text[0] != '{' {
		return false
	}
	for at := 1; ; {
		at = skipSpace(text, at)
		switch text[at] {
		case '}':
			return true
		case ',':
			at++
			continue
		}
		nameEnd, _ := skipValue(text, at)
		name, _ := Unquote(text[at:nameEnd])
		at = skipSpace(text, skipSpace(text, nameEnd)+1) // behind the colon
		end, shallow := skipValue(text, at)
		if !take(name, json.RawMessage(text[at:end:end]), shallow) {
			return true
		}
		at = end
	}
}

func skipSpace(text []byte, at int) int {
	for text[at] == ' ' || text[at] == '\t' || text[at] == '\r' || text[at] == '\n' {
		at++
	}
	return at
}

// skipValue returns where the value at an offset of valid JSON ends, and whether it
// is nested no deeper than [maxDepth].
func skipValue(text []byte, at int) (end int, shallow bool) {
	shallow = true
	for depth := 0; at < len(text); at++ {
		switch text[at] {
		case '"':
			for at++; text[at] != '"'; at++ {
				if text[at] == '\\' {
					at++
				}
			}
			if depth == 0 {
				return at + 1, shallow
			}
		case '{', '[':
			if depth++; depth > maxDepth {
				shallow = false
			}
		case '}', ']':
			if depth--; depth == 0 {
				return at + 1, shallow
			}
			if depth < 0 { // the end of a number or a word, at the end of its object
				return at, shallow
			}
		case ',', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return at, shallow
			}
		}
	}
	return at, shallow
}

// Unquote returns the text of a JSON string.
func Unquote(text []byte) (string, bool) {
	if len(text) < 2 || text[0] != '"' {
		return "", false
	}
	if inner := text[1 : len(text)-1]; !bytes.ContainsRune(inner, '\\') {
		return string(inner), true
	}
	var s string
	err := json.Unmarshal(text, &s)
	return s, err == nil
}

// asWritten begins the ID by which the SDK knows a request whose own ID it would
// change. The text of the ID follows.
const asWritten = "\x00"

// exact is the greatest integer below which every integer is a float64, which is
// how the SDK reads numbers.
const exact = 1 << 53

// MakeID returns the ID for the SDK. The SDK knows strings and integers of 64 bits,
// and reads integers as float64. Any other number, such as 1.5, becomes a string that
// [AppendID] turns back. A missing ID and null are the zero ID.
func MakeID(text []byte) (id jsonrpc.ID, ok bool) {
	if len(text) == 0 || string(text) == "null" {
		return jsonrpc.ID{}, true
	}
	var value any
	switch c := text[0]; {
	case c == '"':
		s, ok := Unquote(text)
		if !ok {
			return jsonrpc.ID{}, false
		}
		if value = s; len(s) > 0 && s[:1] == asWritten {
			value = asWritten + string(text)
		}
	case c == '-' || c >= '0' && c <= '9':
		n, err := strconv.ParseInt(string(text), 10, 64)
		if value = float64(n); err != nil || n > exact || n < -exact || strconv.FormatInt(n, 10) != string(text) {
			value = asWritten + string(text)
		}
	default:
		return jsonrpc.ID{}, false
	}
	id, err := jsonrpc.MakeID(value)
	return id, err == nil
}

// AppendID appends an ID as the client wrote it.
func AppendID(b []byte, id jsonrpc.ID) []byte {
	switch v := id.Raw().(type) {
	case int64:
		return strconv.AppendInt(b, v, 10)
	case string:
		if len(v) > 0 && v[:1] == asWritten {
			return append(b, v[1:]...)
		}
		text, err := Compact(v)
		if err == nil {
			return append(b, text...)
		}
	}
	return append(b, "null"...)
}

// Compact encodes v without escaping <, > and &.
func Compact(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSpace(b.Bytes()), err
}

// Encode returns the line of a message.
func Encode(msg jsonrpc.Message) ([]byte, error) {
	r, ok := msg.(*jsonrpc.Response)
	if !ok {
		text, err := jsonrpc.EncodeMessage(msg)
		return append(text, '\n'), err
	}
	name, value := `,"result":`, r.Result
	if r.Error != nil {
		text, err := jsonrpc.EncodeMessage(&jsonrpc.Response{Error: r.Error})
		if err != nil {
			return nil, err
		}
		m, _ := Split(text)
		name, value = `,"error":`, m.Error
	}
	if len(value) == 0 {
		value = json.RawMessage("null")
	}
	b := slices.Grow([]byte(`{"jsonrpc":"2.0","id":`), len(value)+64)
	b = AppendID(b, r.ID)
	b = append(b, name...)
	b = append(b, value...) // compact, so without a line break
	return append(b, "}\n"...), nil
}

// NotAMessage returns the line that answers JSON that is no message.
func NotAMessage() []byte {
	return ProtocolError(jsonrpc.CodeInvalidRequest, "Invalid Request: not a JSON-RPC 2.0 message")
}

// ProtocolError returns the line of an error response to a message whose ID is
// unknown.
func ProtocolError(code int64, text string) []byte { return ErrorTo(jsonrpc.ID{}, code, text) }

// ErrorTo returns the line of an error response.
func ErrorTo(id jsonrpc.ID, code int64, text string) []byte {
	b, err := Encode(&jsonrpc.Response{ID: id, Error: &jsonrpc.Error{Code: code, Message: text}})
	if err != nil {
		return nil
	}
	return b
}
