// Package stdio carries MCP over standard input and output, one JSON-RPC
// message a line.
//
// A filter stands before the SDK's transport: a line that is not JSON, or not
// a JSON-RPC 2.0 message, is answered with an error (-32700 or -32600) and the
// session lives on; the SDK alone would end it and cancel what runs.
//
// The package never interprets a message beyond that.
package stdio

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxLine bounds one message. A longer line is answered with -32600 and
// skipped to its end.
const maxLine = 16 << 20

// Transport returns an MCP transport over in and out.
func Transport(in io.Reader, out io.Writer) *mcp.IOTransport {
	w := &lineWriter{out: out}
	r, feed := io.Pipe()
	go filter(in, feed, w)
	return &mcp.IOTransport{Reader: r, Writer: w, MaxLineLength: -1}
}

// lineWriter writes whole messages, whoever sends them.
type lineWriter struct {
	mu  sync.Mutex
	out io.Writer
}

func (w *lineWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.out.Write(p)
}

// Close does nothing: standard output belongs to the process.
func (*lineWriter) Close() error { return nil }

// filter copies the messages of in to feed and answers the rest itself.
func filter(in io.Reader, feed *io.PipeWriter, out io.Writer) {
	lines := bufio.NewReaderSize(in, 64<<10)
	for {
		line, tooLong, err := readLine(lines)
		switch {
		case tooLong:
			_, _ = out.Write(protocolError(-32600, "Invalid Request: the message is longer than 16 MiB"))
		case len(bytes.TrimSpace(line)) == 0:
		case !json.Valid(line):
			_, _ = out.Write(protocolError(-32700, "Parse error: the line is not JSON"))
		case !message(line):
			_, _ = out.Write(protocolError(-32600, "Invalid Request: not a JSON-RPC 2.0 message"))
		default:
			if _, err := feed.Write(append(line, '\n')); err != nil {
				return // the session has ended
			}
		}
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			_ = feed.CloseWithError(err) // nil reads as EOF
			return
		}
	}
}

// readLine returns the next line without its end. A line beyond maxLine is
// consumed and reported instead of kept.
func readLine(r *bufio.Reader) (line []byte, tooLong bool, err error) {
	for {
		part, err := r.ReadSlice('\n')
		if !tooLong && len(line)+len(part) <= maxLine {
			line = append(line, part...)
		} else {
			line, tooLong = nil, true
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return bytes.TrimRight(line, "\r\n"), tooLong, err
		}
	}
}

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
