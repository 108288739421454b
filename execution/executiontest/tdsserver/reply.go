package tdsserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"
)

// errDropped ends a connection that a handler broke on purpose. errHandler is
// an error in the test's own answer.
var (
	errDropped = errors.New("the handler ended the connection")
	errHandler = errors.New("the answer cannot be sent")
)

// Reply is the answer to one request. It holds bytes until a packet is full,
// until Flush is called, or until the answer ends. It keeps its first error,
// and all methods return that.
type Reply struct {
	ctx     context.Context //nolint:containedctx // it belongs to the request
	c       *conn
	w       *packetWriter
	err     error
	buf     []byte
	types   []Type
	rows    uint64
	open    bool // columns were sent, and no DONE after them
	failed  bool // an ERROR was sent, and no DONE after it
	proc    bool // a call of a procedure: the last token is DONEPROC
	changed bool // rows were changed, and no DONE after it
	ended   bool // the handler has sent the last DONE itself
	sent    bool // nothing more is sent for this request
	broken  bool // the connection was ended
}

// Context returns a context that ends with the request: by an attention, or
// with the connection.
func (r *Reply) Context() context.Context { return r.ctx }

// Gone returns a channel that is closed when the connection has ended. A
// handler that ignores attentions waits for it.
func (r *Reply) Gone() <-chan struct{} { return r.c.gone }

// token sends a token, unless the request was ended.
func (r *Reply) token(b []byte) {
	if r.live() {
		r.emit(b)
	}
}

// live reports whether the request is still running, and records if it is not.
func (r *Reply) live() bool {
	if r.err == nil {
		r.err = r.ctx.Err()
	}
	return r.err == nil
}

// emit sends bytes, which may be part of a token.
func (r *Reply) emit(b []byte) {
	if r.err != nil {
		return
	}
	if _, err := r.w.Write(b); err != nil {
		r.err = err
	}
}

// Columns begins a result.
func (r *Reply) Columns(columns ...Column) error {
	r.types = r.types[:0]
	for _, c := range columns {
		r.types = append(r.types, c.Type)
	}
	r.open, r.rows = true, 0
	r.token(appendColumns(nil, columns))
	return r.err
}

// Order says by which columns the rows are sorted. The first column is 1
// ([MS-TDS] 2.2.7.17).
func (r *Reply) Order(columns ...int) error {
	var data []byte
	for _, c := range columns {
		data = append(data, byte(c), byte(c>>8))
	}
	r.token(appendSized(nil, tokenOrder, data))
	return r.err
}

// Row sends a row, one value for each column ([MS-TDS] 2.2.7.20).
func (r *Reply) Row(values ...any) error {
	if err := r.count(values); err != nil {
		return err
	}
	r.buf = append(r.buf[:0], tokenRow)
	for i, v := range values {
		r.value(r.types[i], v)
	}
	r.emit(r.buf)
	r.rows++
	return r.err
}

// NBCRow sends a row with a bitmap of its NULLs ([MS-TDS] 2.2.7.15).
func (r *Reply) NBCRow(values ...any) error {
	if err := r.count(values); err != nil {
		return err
	}
	r.buf = append(r.buf[:0], tokenNBCRow)
	nulls := make([]byte, (len(values)+7)/8)
	for i, v := range values {
		if v == nil {
			nulls[i/8] |= 1 << (i % 8)
		}
	}
	r.buf = append(r.buf, nulls...)
	for i, v := range values {
		if v != nil {
			r.value(r.types[i], v)
		}
	}
	r.emit(r.buf)
	r.rows++
	return r.err
}

func (r *Reply) count(values []any) error {
	if r.live() && (!r.open || len(values) != len(r.types)) {
		r.err = fmt.Errorf("%w: a row of %d values for %d columns", errHandler, len(values), len(r.types))
	}
	return r.err
}

// value adds a value to the current row. It does not hold a blob, and first
// sends the bytes before it. When an attention arrives meanwhile, it ends the
// blob early, so that the client can read what follows.
func (r *Reply) value(t Type, v any) {
	if r.err != nil {
		return
	}
	if blob, ok := v.(Blob); ok {
		r.emit(r.buf)
		r.buf = r.buf[:0]
		if r.err == nil {
			r.err = writeBlob(r.ctx, r.w, t, blob)
		}
		return
	}
	var err error
	if r.buf, err = appendValue(r.buf, t, v); err != nil {
		r.err = fmt.Errorf("%w: %w", errHandler, err)
	}
}

// Error sends an ERROR token. The DONE after it says that there was an error.
func (r *Reply) Error(e *ServerError) error {
	r.failed = true
	r.token(appendMessage(nil, tokenError, r.c.s.name(), e))
	return r.err
}

// Info sends an INFO token.
func (r *Reply) Info(e *ServerError) error {
	r.token(appendMessage(nil, tokenInfo, r.c.s.name(), e))
	return r.err
}

// ReturnStatus sends the return value of a procedure ([MS-TDS] 2.2.7.18).
func (r *Reply) ReturnStatus(status int32) error {
	r.token([]byte{tokenReturnStatus, byte(status), byte(status >> 8), byte(status >> 16), byte(status >> 24)})
	return r.err
}

// DoneMore ends a statement that is not the last one of the batch, or of the
// procedure.
func (r *Reply) DoneMore() error {
	token := byte(tokenDone)
	if r.proc {
		token = tokenDoneInProc
	}
	r.done(token, DoneMore)
	return r.err
}

// Done sends a DONE token with this status as the last one of the answer.
func (r *Reply) Done(token byte, status, command uint16, rows uint64) error {
	r.token(appendDone(nil, token, status, command, rows))
	r.ended = true
	return r.err
}

// done sends a DONE for everything since the previous one.
func (r *Reply) done(token byte, status uint16) {
	var command uint16
	if r.failed {
		status |= DoneError
	}
	if r.open {
		command = commandSelect
		if !r.failed && !r.c.session.on("NOCOUNT") {
			status |= DoneCount
		}
	}
	if r.changed && !r.failed && !r.c.session.on("NOCOUNT") {
		status |= DoneCount
	}
	if r.c.session.transaction != 0 {
		status |= DoneInTran
	}
	r.token(appendDone(nil, token, status, command, r.rows))
	r.open, r.failed, r.changed, r.rows = false, false, false, 0
}

// finish ends the answer.
func (r *Reply) finish() error {
	if !r.ended {
		token := byte(tokenDone)
		if r.proc {
			token = tokenDoneProc
		}
		r.ctx = context.Background() // from now on an attention gets an answer of its own
		r.done(token, 0)
	}
	if r.err != nil {
		return r.err
	}
	return r.w.end()
}

// acknowledge ends an answer that an attention has interrupted ([MS-TDS]
// 2.2.7.6: DONE_ATTN). Under XACT_ABORT it also ends the transaction.
func (r *Reply) acknowledge() error {
	r.ctx, r.err = context.Background(), nil
	if s := &r.c.session; s.on("XACT_ABORT") && s.transaction != 0 {
		if err := s.rollback(r); err != nil {
			return err
		}
	}
	if r.c.s.config.SeparateAttention {
		r.token(appendDone(nil, tokenDone, DoneError, 0, 0))
		if r.err != nil {
			return r.err
		}
		if err := r.w.end(); err != nil {
			return err
		}
	}
	r.token(appendDone(nil, tokenDone, DoneAttention, 0, 0))
	if r.err != nil {
		return r.err
	}
	return r.w.end()
}

// Flush sends the bytes that the Reply holds.
func (r *Reply) Flush() error {
	if r.err == nil {
		r.err = r.w.flush()
	}
	return r.err
}

// Sleep waits for d, or until the request ends.
func (r *Reply) Sleep(d time.Duration) error {
	if r.err != nil {
		return r.err
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-r.ctx.Done():
		r.err = r.ctx.Err()
	}
	return r.err
}

// Bytes sends raw bytes as part of the answer, for tokens that no server sends.
func (r *Reply) Bytes(b []byte) error {
	r.token(b)
	return r.err
}

// Packet sends a separate packet whose header states size as its length. The
// data may be shorter.
func (r *Reply) Packet(typ, status byte, size int, data []byte) error {
	if err := r.Flush(); err != nil {
		return err
	}
	b := make([]byte, headerSize, headerSize+len(data))
	putHeader(b, packetType(typ), status, size, r.c.spid, 1)
	if _, err := r.c.net.Write(append(b, data...)); err != nil {
		r.err = err
	}
	return r.err
}

// End makes the server treat the answer as complete. It then sends no DONE and
// no end of the message, because Packet has sent them.
func (r *Reply) End() error {
	r.sent = true
	return nil
}

// Drop closes the connection after the flushed bytes. With reset it sends a TCP
// reset, which may discard even those.
func (r *Reply) Drop(reset bool) error {
	if reset {
		if tcp, ok := r.c.raw.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
	}
	r.broken = true
	r.c.drop()
	return nil
}
