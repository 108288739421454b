package pgdb

import (
	"errors"

	"github.com/jackc/pgx/v5/pgproto3"
)

// raw is a sequence of encoded messages.
type raw []byte

// Frontend marks raw as a message that a client sends.
func (raw) Frontend() {}

// Decode returns an error: raw is never read.
func (raw) Decode([]byte) error { return errors.New("raw messages are not read") }

// Encode appends the messages.
func (m raw) Encode(dst []byte) ([]byte, error) { return append(dst, m...), nil }

// encoder collects messages. Encoding fails only for messages over 1 GB.
type encoder struct {
	b   []byte
	err error
}

func (e *encoder) add(m pgproto3.FrontendMessage) {
	if e.err == nil {
		e.b, e.err = m.Encode(e.b)
	}
}

// run adds a constant with its parameters. The constant is executed by its
// prepared name, or parsed here.
func (e *encoder) run(c constant, prepared bool, values ...[]byte) {
	name := c.name
	if !prepared {
		name = ""
		e.add(&pgproto3.Parse{Query: c.sql})
	}
	e.add(&pgproto3.Bind{PreparedStatement: name, Parameters: values})
	e.add(&pgproto3.Execute{})
}
