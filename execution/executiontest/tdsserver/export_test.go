package tdsserver

import "io"

// The messages of a client, for fuzzing.

// ReadMessage reads one message and returns its type, its payload and how many
// packets it had.
func ReadMessage(r io.Reader) (typ byte, payload []byte, packets int, err error) {
	m, err := readMessage(r)
	return byte(m.typ), m.payload, m.packets, err
}

// WriteMessage writes a message in packets of at most size bytes.
func WriteMessage(w io.Writer, typ byte, payload []byte, size int) error {
	p := newPacketWriter(w, packetType(typ), 0, size)
	if _, err := p.Write(payload); err != nil {
		return err
	}
	return p.end()
}

// The readers of requests.
var (
	ReadPrelogin    = readPrelogin
	ReadLogin       = readLogin
	ReadBatch       = readBatch
	ReadRPC         = readRPC
	ReadTransaction = readTransaction
	Agree           = agree
)

// PreloginAnswer is the server's own PRELOGIN.
func PreloginAnswer(version [4]byte, e Encryption) []byte { return preloginAnswer(version, e) }

// Parse compiles a batch without running it.
func Parse(text string) error {
	s := &Server{config: Config{Databases: []string{DefaultDatabase}}, tables: map[string]Table{"items": items}}
	c := &conn{s: s, account: Owner}
	c.session = newSession(c, DefaultDatabase)
	_, err := c.parse(text, map[string]Type{})
	return err
}

// ErrProtocol is the error of a client that breaks the rules.
var ErrProtocol = errProtocol
