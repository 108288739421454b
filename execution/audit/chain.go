package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
)

// Hash is the hash of one event.
type Hash [sha256.Size]byte

// String returns h as it is written in the log.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// MarshalText returns h as it is written in the log.
func (h Hash) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, h[:]), nil }

// UnmarshalText reads 64 lower-case hexadecimal digits.
func (h *Hash) UnmarshalText(text []byte) error {
	v, ok := parseHash(text)
	if !ok {
		return fmt.Errorf("%q is not a hash of 64 lower-case hexadecimal digits", clip(string(text), 80))
	}
	*h = v
	return nil
}

// Every line begins
//
//	{"chain":{"hash":"…64…","prev":"…64…"},
//
// because chain is the first name in RFC 8785's order. The hash is computed
// over the line without the hash member.
const (
	prefixOpen = `{"chain":{`
	prefixHash = `"hash":"`
	prefixPrev = `"prev":"`
	prefixEnd  = `"},`

	hexHash = 2 * sha256.Size
	// hashMember is the length of the hash member with its comma.
	hashMember = len(prefixHash) + hexHash + len(`",`)
	prevOffset = len(prefixOpen) + hashMember
	restOffset = prevOffset + len(prefixPrev) + hexHash + len(prefixEnd)

	// maxLine bounds a line in bytes, so that readers need not hold more.
	maxLine = 16 << 20
)

// blankPrefix reserves the bytes that seal fills: space for the hash member,
// then the opening, where the hashed bytes begin.
var blankPrefix = func() (b [prevOffset]byte) {
	copy(b[hashMember:], prefixOpen)
	return b
}()

// seal hashes line from offset hashMember on. Then it writes the opening and
// the hash member at the start of line.
func seal(line []byte) Hash {
	hash := Hash(sha256.Sum256(line[hashMember:]))
	n := copy(line, prefixOpen+prefixHash)
	n += hex.Encode(line[n:], hash[:])
	copy(line[n:], `",`)
	return hash
}

// errMalformed is the error for a line that does not begin as every line does.
var errMalformed = errors.New("not an event of this log")

// errHash is the error for a line whose content does not match its hash.
var errHash = errors.New("the content does not have the hash it carries")

// head holds the parts of a line that the chain needs.
type head struct {
	prev, hash Hash
	seq        int64
	kind       Type
}

// readHead checks the hash of line, which has no newline, and returns its head.
// With errHash, the head holds the values that the line claims.
func readHead(line []byte) (head, error) {
	h, err := readChain(line)
	if err != nil {
		return head{}, err
	}
	var v struct {
		Seq  int64 `json:"seq"`
		Type Type  `json:"event"`
	}
	if err := json.Unmarshal(line, &v); err != nil {
		return head{}, errMalformed
	}
	h.seq, h.kind = v.Seq, v.Type
	return h, h.check(line)
}

// readChain reads the hashes with which every line begins.
func readChain(line []byte) (head, error) {
	var h head
	var ok bool
	if len(line) < restOffset || string(line[:len(prefixOpen)+len(prefixHash)]) != prefixOpen+prefixHash {
		return head{}, errMalformed
	}
	if h.hash, ok = parseHash(line[len(prefixOpen)+len(prefixHash):][:hexHash]); !ok {
		return head{}, errMalformed
	}
	if string(line[prevOffset-len(`",`):][:len(`",`)+len(prefixPrev)]) != `",`+prefixPrev {
		return head{}, errMalformed
	}
	if h.prev, ok = parseHash(line[prevOffset+len(prefixPrev):][:hexHash]); !ok {
		return head{}, errMalformed
	}
	if string(line[restOffset-len(prefixEnd):restOffset]) != prefixEnd {
		return head{}, errMalformed
	}
	return h, nil
}

// check returns errHash unless line has the hash of h.
func (h head) check(line []byte) error {
	digest := sha256.New()
	digest.Write([]byte(prefixOpen))
	digest.Write(line[prevOffset:])
	if !bytes.Equal(digest.Sum(nil), h.hash[:]) {
		return errHash
	}
	return nil
}

// parseHash reads a hash, which has only one valid spelling.
func parseHash(text []byte) (h Hash, ok bool) {
	if len(text) != hexHash || bytes.ContainsAny(text, "ABCDEF") {
		return h, false
	}
	_, err := hex.Decode(h[:], text)
	return h, err == nil
}
