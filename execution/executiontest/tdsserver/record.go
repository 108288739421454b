package tdsserver

import (
	"slices"
	"time"
)

// Kind is the kind of a client's message.
type Kind string

// The kinds of messages.
const (
	KindPrelogin    Kind = "prelogin"
	KindLogin       Kind = "login"
	KindBatch       Kind = "batch"
	KindRPC         Kind = "rpc"
	KindTransaction Kind = "transaction"
	KindAttention   Kind = "attention"
	// KindClosed is the end of the connection, whichever side ended it.
	KindClosed Kind = "closed"
	// KindViolation is a violation of [MS-TDS] by a client. Text describes it.
	// The server closes the connection.
	KindViolation Kind = "violation"
)

// Message is one message of a client, in the order in which the server read
// them. Only the fields of its kind are set.
type Message struct {
	Connection int // from 1, in the order of connecting; its SPID is 50 more
	Kind       Kind
	At         time.Time
	// Text is the text of a batch, or of the statement of sp_executesql.
	Text string
	// Raw is the text of a batch as it was received, in UTF-16LE.
	Raw []byte
	// Packets is how many packets the message had.
	Packets int
	// Reset is the RESETCONNECTION bit, ResetKeepingTransaction the
	// RESETCONNECTIONSKIPTRAN bit ([MS-TDS] 2.2.3.1.2).
	Reset, ResetKeepingTransaction bool
	// Ignored says that the client took the message back.
	Ignored bool
	// Descriptor is the transaction that the request names.
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

// Batches returns the text of every batch.
func (s *Server) Batches() []string {
	var texts []string
	for _, m := range s.Of(KindBatch) {
		texts = append(texts, m.Text)
	}
	return texts
}

// Logins returns every attempted login.
func (s *Server) Logins() []Login {
	var logins []Login
	for _, m := range s.Of(KindLogin) {
		logins = append(logins, *m.Login)
	}
	return logins
}
