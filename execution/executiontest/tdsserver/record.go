package tdsserver

import (
	"slices"
	"time"
)

// Kind says what a client sent.
type Kind string

// The kinds of messages.
const (
	KindPrelogin    Kind = "prelogin"
	KindLogin       Kind = "login"
	KindBatch       Kind = "batch"
	KindRPC         Kind = "rpc"
	KindTransaction Kind = "transaction"
	KindAttention   Kind = "attention"
	// KindClosed is the end of the connection, whoever ended it.
	KindClosed Kind = "closed"
	// KindViolation is something that [MS-TDS] does not allow a client; Text
	// says what. The connection is ended.
	KindViolation Kind = "violation"
)

// Message is one thing that a client sent, in the order in which the server
// read it. Only the fields of its kind are set.
type Message struct {
	Connection int // from 1, in the order of connecting; its SPID is 50 more
	Kind       Kind
	At         time.Time
	// Text is the text of a batch, or of the statement of sp_executesql.
	Text string
	// Raw is the text of a batch as it came: UTF-16LE.
	Raw []byte
	// Packets is how many packets the message had.
	Packets int
	// Reset is the RESETCONNECTION bit, ResetKeepingTransaction the
	// RESETCONNECTIONSKIPTRAN bit ([MS-TDS] 2.2.3.1.2).
	Reset, ResetKeepingTransaction bool
	// Ignored says that the client took the message back.
	Ignored bool
	// Descriptor is the transaction that the client believes it is in.
	Descriptor  uint64
	Login       *Login
	Calls       []RPC
	Transaction TransactionKind
	Isolation   byte
	// Options are the options of PRELOGIN.
	Options map[byte][]byte
}

func (s *Server) record(m Message) {
	m.At = time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.messages = append(s.messages, m)
}

// Messages returns what clients have sent so far.
func (s *Server) Messages() []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.messages)
}

// Forget empties the record.
func (s *Server) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.messages = nil
}

// Of returns the messages of one kind.
func (s *Server) Of(kind Kind) []Message {
	return slices.DeleteFunc(s.Messages(), func(m Message) bool { return m.Kind != kind })
}

// Batches returns the texts of all batches.
func (s *Server) Batches() []string {
	var texts []string
	for _, m := range s.Of(KindBatch) {
		texts = append(texts, m.Text)
	}
	return texts
}

// Logins returns the logins that were tried.
func (s *Server) Logins() []Login {
	var logins []Login
	for _, m := range s.Of(KindLogin) {
		logins = append(logins, *m.Login)
	}
	return logins
}
