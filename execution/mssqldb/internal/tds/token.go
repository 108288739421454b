package tds

import "encoding/binary"

// Tokens of an answer (MS-TDS 2.2.7).
const (
	tokenReturnStatus = 0x79
	tokenColumns      = 0x81
	tokenTableName    = 0xA4
	tokenColumnInfo   = 0xA5
	tokenOrder        = 0xA9
	tokenError        = 0xAA
	tokenInfo         = 0xAB
	tokenLoginAck     = 0xAD
	tokenFeatures     = 0xAE
	tokenRow          = 0xD1
	tokenRowNulls     = 0xD2
	tokenChange       = 0xE3
	tokenDone         = 0xFD
	tokenDoneProc     = 0xFE
	tokenDoneInProc   = 0xFF
)

// Token is the kind of token that [Response.Next] read.
type Token uint8

// The kinds of token.
const (
	TokenEnd       Token = iota // the answer is over
	TokenColumns                // Columns is set
	TokenRow                    // the cells come next
	TokenDone                   // Done is set
	TokenError                  // Message is set
	TokenInfo                   // Message is set
	TokenChange                 // Change is set
	TokenProcedure              // a token that only procedures send
)

// Done says that one statement has ended.
type Done struct {
	More         bool // the answer to another statement follows
	Failed       bool
	Fatal        bool // the server will close the connection
	Acknowledged bool // an attention ended it
	Counted      bool
	Rows         uint64
}

// Message is an error or an informational message of the server.
type Message struct {
	Number    int32
	State     uint8
	Class     uint8
	Text      string
	Procedure string
	Line      int32
}

// Change is the kind of a session change that the server reports.
type Change uint8

// The kinds of change (MS-TDS 2.2.7.9).
const (
	ChangeDatabase   Change = 1
	ChangeLanguage   Change = 2
	ChangePacketSize Change = 4
	ChangeCollation  Change = 7
	ChangeBegin      Change = 8
	ChangeCommit     Change = 9
	ChangeRollback   Change = 10
	ChangeEnded      Change = 17
	ChangeReset      Change = 18
	ChangeRouting    Change = 20
)

// Response is the answer to one batch.
type Response struct {
	// Named is for how many columns Next keeps the names; 0 means none.
	Named int
	// Over, if set, is called when a value exceeds the limit, before the rest
	// of the value is read.
	Over func()
	// Columns are the columns of the last TokenColumns.
	Columns []Column
	Done    Done
	Message Message
	Change  Change

	c   *Conn
	p   *packets
	err error

	begun, over, ended bool
	inRow              bool
	at                 int    // index of the row's next column
	nulls              []byte // the NULL bitmap of the row; nil if each cell says whether it is NULL
	hasNulls           bool
	cell               []byte
	login              *loginAnswer
}

// Next returns the next token. It skips the unread rest of a row. After an
// error the connection cannot be read any further.
func (r *Response) Next() (Token, error) {
	for {
		if r.over || r.err != nil {
			return TokenEnd, r.err
		}
		if !r.begun {
			r.begun = true
			r.fail(r.p.begin())
		}
		for r.inRow && r.err == nil {
			if _, err := r.Cell(0); err != nil {
				return TokenEnd, err
			}
		}
		if r.ended {
			if r.c == nil || r.c.answered(r.Done.Acknowledged) {
				r.over = true
				continue
			}
			r.ended = false
			r.fail(r.p.begin()) // the message that acknowledges the attention
		}
		if token, ok := r.token(); ok && r.err == nil {
			return token, nil
		}
	}
}

// token reads one token. It reports false for a token that callers need not
// see.
func (r *Response) token() (token Token, ok bool) {
	switch id := r.u8(); id {
	case tokenColumns:
		r.Columns = r.columns(r.Named)
		return TokenColumns, true
	case tokenRow, tokenRowNulls:
		r.row(id == tokenRowNulls)
		return TokenRow, true
	case tokenDone, tokenDoneProc, tokenDoneInProc:
		r.done()
		if id == tokenDone {
			return TokenDone, true
		}
		return TokenProcedure, true
	case tokenError, tokenInfo:
		r.message()
		if id == tokenError {
			return TokenError, true
		}
		return TokenInfo, true
	case tokenChange:
		r.change()
		return TokenChange, true
	case tokenReturnStatus:
		r.u32()
		return TokenProcedure, true
	case tokenOrder, tokenTableName, tokenColumnInfo:
		r.skip(int64(r.u16()))
		return 0, false
	case tokenLoginAck, tokenFeatures:
		if r.login != nil {
			r.loginToken(id)
			return 0, false
		}
		r.fail(malformed("the token %#x behind the login", id))
	default:
		r.fail(malformed("the unknown token %#x", id))
	}
	return 0, false
}

// row starts a row.
func (r *Response) row(nulls bool) {
	if len(r.Columns) == 0 {
		r.fail(malformed("a row without columns"))
		return
	}
	r.inRow, r.at, r.hasNulls = true, 0, nulls
	if nulls {
		r.nulls = append(r.nulls[:0], r.take((len(r.Columns)+7)/8)...)
	}
}

// done reads DONE (MS-TDS 2.2.7.6).
func (r *Response) done() {
	status := r.u16()
	r.u16() // the command
	r.Done = Done{
		More: status&0x1 != 0, Failed: status&0x2 != 0, Counted: status&0x10 != 0,
		Acknowledged: status&0x20 != 0, Fatal: status&0x100 != 0, Rows: r.u64(),
	}
	if r.Done.More || r.err != nil {
		return
	}
	r.ended = true
	if !r.p.ended() {
		r.fail(malformed("a message goes on behind its last token"))
	}
}

// message reads ERROR and INFO (MS-TDS 2.2.7.10, 2.2.7.13).
func (r *Response) message() {
	r.u16()
	m := Message{Number: int32(r.u32()), State: r.u8(), Class: r.u8()} //nolint:gosec // the protocol has it signed
	m.Text = messageText(r.take(2 * int(r.u16())))
	r.skip(2 * int64(r.u8())) // the server's name
	m.Procedure = messageText(r.take(2 * int(r.u8())))
	m.Line = int32(r.u32()) //nolint:gosec // the protocol has it signed
	r.Message = m
}

// change reads ENVCHANGE.
func (r *Response) change() {
	b := r.take(int(r.u16()))
	if len(b) == 0 {
		r.fail(malformed("an empty change"))
		return
	}
	r.Change = Change(b[0])
	b = b[1:]
	switch {
	case r.Change == ChangeBegin:
		if len(b) < 9 || b[0] != 8 {
			r.fail(malformed("a transaction without a descriptor"))
			return
		}
		if r.c != nil {
			r.c.transaction = binary.LittleEndian.Uint64(b[1:])
		}
	case r.Change == ChangeCommit, r.Change == ChangeRollback, r.Change == ChangeEnded:
		if r.c != nil {
			r.c.transaction = 0
		}
	case r.login != nil:
		r.fail(r.login.change(r.Change, b))
	}
}

// fail keeps the first error.
func (r *Response) fail(err error) {
	if r.err == nil && err != nil {
		r.err = err
	}
}

// take returns n bytes, or nil once reading has failed.
func (r *Response) take(n int) []byte {
	if r.err != nil {
		return nil
	}
	b, err := r.p.take(n)
	r.fail(err)
	if err != nil {
		return nil
	}
	return b
}

func (r *Response) skip(n int64) {
	for n > 0 && r.err == nil {
		b, err := r.p.piece(int(min(n, 1<<15)))
		r.fail(err)
		n -= int64(len(b))
	}
}

func (r *Response) u8() byte {
	if b := r.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (r *Response) u16() uint16 {
	if b := r.take(2); b != nil {
		return binary.LittleEndian.Uint16(b)
	}
	return 0
}

func (r *Response) u32() uint32 {
	if b := r.take(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (r *Response) u64() uint64 {
	if b := r.take(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}
