package tdsserver

import (
	"encoding/binary"
	"fmt"
)

// reader takes values from the front of a message. The first read beyond its
// end sets err. After that it returns zero values.
type reader struct {
	b   []byte
	err error
}

func (r *reader) take(n int) []byte {
	if r.err != nil || n < 0 || n > len(r.b) {
		if r.err == nil {
			r.err = fmt.Errorf("%w: a request that ends %d bytes too early", errProtocol, n-len(r.b))
		}
		return nil
	}
	b := r.b[:n:n]
	r.b = r.b[n:]
	return b
}

func (r *reader) uint8() byte {
	if b := r.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (r *reader) uint16() uint16 {
	if b := r.take(2); b != nil {
		return binary.LittleEndian.Uint16(b)
	}
	return 0
}

func (r *reader) uint32() uint32 {
	if b := r.take(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (r *reader) uint64() uint64 {
	if b := r.take(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// text reads n UTF-16 units.
func (r *reader) text(n int) string {
	s, err := fromUTF16(r.take(2 * n))
	if err != nil && r.err == nil {
		r.err = err
	}
	return s
}

// shortText reads a B_VARCHAR ([MS-TDS] 2.2.5.2.2).
func (r *reader) shortText() string { return r.text(int(r.uint8())) }

// transactionHeader is the type of the header that names the transaction
// ([MS-TDS] 2.2.5.3.2). Every request must have it.
const transactionHeader = 2

// headers reads ALL_HEADERS ([MS-TDS] 2.2.5.3) and returns the transaction
// descriptor.
func (r *reader) headers() (transaction uint64) {
	total := r.uint32()
	if total < 4 {
		r.fail("headers of %d bytes", total)
		return 0
	}
	in := &reader{b: r.take(int(total) - 4), err: r.err}
	found := false
	for in.err == nil && len(in.b) > 0 {
		size := in.uint32()
		typ := in.uint16()
		if size < 6 {
			in.fail("a header of %d bytes", size)
			break
		}
		data := &reader{b: in.take(int(size) - 6), err: in.err}
		if typ == transactionHeader {
			found = true
			transaction = data.uint64()
			_ = data.uint32() // outstanding requests: always one without multiple active result sets
			in.err = data.err
		}
	}
	if r.err == nil {
		r.err = in.err
	}
	if !found {
		r.fail("a request without a transaction header")
	}
	return transaction
}

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("%w: "+format, append([]any{errProtocol}, args...)...)
	}
}

// readBatch reads a SQLBatch ([MS-TDS] 2.2.6.7).
func readBatch(b []byte) (transaction uint64, text string, raw []byte, err error) {
	r := &reader{b: b}
	transaction = r.headers()
	if r.err != nil {
		return 0, "", nil, r.err
	}
	text, err = fromUTF16(r.b)
	return transaction, text, r.b, err
}

// RPC is one call of a procedure ([MS-TDS] 2.2.6.6).
type RPC struct {
	// Name is the procedure's name. For a procedure that is called by number,
	// it is the name that belongs to the number.
	Name       string
	ByNumber   bool
	Flags      uint16
	Parameters []Parameter
}

// Parameter is one argument of a call.
type Parameter struct {
	Name   string
	Output bool
	Type   Type
	// Value is a bool, int64, float64, string or []byte, or nil for NULL.
	// Values of other types are the bytes as they were received.
	Value any
}

// procedures are the procedures that can be called by number ([MS-TDS]
// 2.2.6.6).
var procedures = map[uint16]string{
	1: "sp_cursor", 2: "sp_cursoropen", 3: "sp_cursorprepare", 4: "sp_cursorexecute", 5: "sp_cursorprepexec",
	6: "sp_cursorunprepare", 7: "sp_cursorfetch", 8: "sp_cursoroption", 9: "sp_cursorclose", 10: "sp_executesql",
	11: "sp_prepare", 12: "sp_execute", 13: "sp_prepexec", 14: "sp_prepexecrpc", 15: "sp_unprepare",
}

const (
	parameterByRef = 0x01
	separatorOld   = 0x80 // between calls, before TDS 7.2
	separator      = 0xFF
)

// readRPC reads the calls of an RPC request.
func readRPC(b []byte) (transaction uint64, calls []RPC, err error) {
	r := &reader{b: b}
	transaction = r.headers()
	for r.err == nil {
		var c RPC
		if n := r.uint16(); n == 0xFFFF {
			id := r.uint16()
			c.ByNumber, c.Name = true, procedures[id]
			if c.Name == "" {
				r.fail("a call of procedure number %d", id)
			}
		} else {
			c.Name = r.text(int(n))
		}
		c.Flags = r.uint16()
		again := false
		for r.err == nil && len(r.b) > 0 && !again {
			if r.b[0] == separator || r.b[0] == separatorOld {
				_ = r.uint8()
				again = true
				break
			}
			var p Parameter
			p.Name = r.shortText()
			p.Output = r.uint8()&parameterByRef != 0
			p.Type = r.typeInfo()
			p.Value = r.value(p.Type)
			c.Parameters = append(c.Parameters, p)
		}
		calls = append(calls, c)
		if !again || len(r.b) == 0 {
			break
		}
	}
	return transaction, calls, r.err
}

// TransactionKind is what a transaction manager request asks for
// ([MS-TDS] 2.2.6.9).
type TransactionKind uint16

// The kinds that are modelled.
const (
	TransactionBegin    TransactionKind = 5
	TransactionCommit   TransactionKind = 7
	TransactionRollback TransactionKind = 8
	TransactionSave     TransactionKind = 9
)

// readTransaction reads a transaction manager request.
func readTransaction(b []byte) (transaction uint64, kind TransactionKind, isolation byte, err error) {
	r := &reader{b: b}
	transaction = r.headers()
	kind = TransactionKind(r.uint16())
	switch kind {
	case TransactionBegin:
		isolation = r.uint8()
		_ = r.shortText()
	case TransactionCommit, TransactionRollback:
		_ = r.shortText()
		if flags := r.uint8(); flags&1 != 0 { // begin another one
			r.fail("a transaction that begins as another ends")
		}
	case TransactionSave:
		_ = r.shortText()
	default:
		r.fail("transaction request %d", kind)
	}
	return transaction, kind, isolation, r.err
}
