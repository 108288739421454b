package console

import (
	"context"
	"io"
)

// input is standard input, of which a read ends with ctx: the system's own read
// waits for a terminal or a pipe for as long as that stays silent.
type input struct {
	ctx  context.Context //nolint:containedctx // io.Reader has no place for it
	r    io.Reader
	left []byte // read and not handed out yet
}

type inputPart struct {
	data []byte
	err  error
}

func NewInput(ctx context.Context, r io.Reader) *input { return &input{ctx: ctx, r: r} }

// Read implements io.Reader. It is not safe for concurrent use.
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
