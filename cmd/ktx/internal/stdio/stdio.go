// Package stdio carries MCP over standard input and output, one JSON-RPC
// message a line.
//
// A filter stands before the SDK's transport. It answers a line that is not JSON, or
// not a JSON-RPC 2.0 message, with an error (-32700 or -32600), and the session goes
// on. The SDK alone would end the session and cancel all running calls.
//
// When the input ends, requests that were read just before get a short time to be
// answered, so that a client may write its requests and close its end. Calls that
// still run then are cancelled.
//
// The package does not interpret messages beyond that.
package stdio

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxLine bounds one message, in bytes. The filter answers a longer line with -32600
// and skips it.
const maxLine = 16 << 20

// grace is how long a session waits for answers when the input ends, counted from
// the last request. It is short because the input also ends when the client is gone.
// When the last request is older than that, running calls are cancelled at once.
const grace = 150 * time.Millisecond

// Transport is an MCP transport over standard input and output.
type Transport struct {
	mcp.IOTransport
	open *counter
	feed *io.PipeWriter
}

// New returns a transport over in and out.
func New(in io.Reader, out io.Writer) *Transport {
	w := &lineWriter{out: out, open: newCounter()}
	r, feed := io.Pipe()
	go filter(in, feed, w)
	return &Transport{mcp.IOTransport{Reader: r, Writer: w, MaxLineLength: -1}, w.open, feed}
}

// Stop ends the session once every request that was read is answered, or after
// limit. Calls that still run are then cancelled.
func (t *Transport) Stop(limit time.Duration) {
	t.open.wait(limit)
	_ = t.feed.Close() // the reader gets the end of the input; closing a pipe never fails
}

// lineWriter writes one message at a time, from the SDK and from the filter.
type lineWriter struct {
	open *counter // requests without an answer

	mu  sync.Mutex
	out io.Writer
}

// Write writes one message of the SDK.
func (w *lineWriter) Write(p []byte) (int, error) {
	n, err := w.write(p)
	w.open.add(-responses(p))
	return n, err
}

func (w *lineWriter) write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.out.Write(p)
}

// Close does nothing, because standard output belongs to the process.
func (*lineWriter) Close() error { return nil }

// filter copies the messages of in to feed, and answers every other line itself.
func filter(in io.Reader, feed *io.PipeWriter, out *lineWriter) {
	lines := bufio.NewReaderSize(in, 64<<10)
	var last time.Time // when the last request was read
	for {
		line, tooLong, err := readLine(lines)
		messages, problem := messages(line)
		if tooLong {
			problem = protocolError(-32600, "Invalid Request: the message is longer than 16 MiB")
		}
		if problem != nil {
			_, _ = out.write(problem)
		}
		for _, m := range messages {
			if n := requests(m); n > 0 {
				out.open.add(n)
				last = time.Now()
			}
			if _, err := feed.Write(append(m, '\n')); err != nil {
				return // the session has ended
			}
		}
		if err != nil {
			if errors.Is(err, io.EOF) {
				out.open.wait(grace - time.Since(last))
				err = nil
			}
			_ = feed.CloseWithError(err) // nil reads as EOF
			return
		}
	}
}

// readLine returns the next line without its end. It skips a line that is longer
// than maxLine, and reports that.
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
