package console

import (
	"context"
	"io"
)

// input is standard input whose reads end when ctx ends. The system's own read
// waits for as long as a terminal or a pipe sends nothing.
type input struct {
	ctx  context.Context //nolint:containedctx // io.Reader has no place for it
	r    io.Reader
	left []byte // read, and not returned to a caller yet
}

type inputPart struct {
	data []byte
	err  error
}

// NewInput returns a reader of r whose reads end with the error of ctx when ctx
// ends. It is not safe for concurrent use.
func NewInput(ctx context.Context, r io.Reader) io.Reader { return &input{ctx: ctx, r: r} }

// Read implements io.Reader.
func (i *input) Read(p []byte) (int, error) {
	if len(i.left) > 0 {
		n := copy(p, i.left)
		i.left = i.left[n:]
		return n, nil
	}
	if err := i.ctx.Err(); err != nil {
		return 0, err
	}
	done := make(chan inputPart, 1)
	go func() {
		buf := make([]byte, max(len(p), 512))
		n, err := i.r.Read(buf)
		done <- inputPart{buf[:n], err}
	}()
	select {
	case <-i.ctx.Done():
		return 0, i.ctx.Err()
	case part := <-done:
		n := copy(p, part.data)
		i.left = part.data[n:]
		return n, part.err
	}
}
