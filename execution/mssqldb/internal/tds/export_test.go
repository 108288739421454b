package tds

import "bytes"

// Answer returns a Response that reads message as the whole answer.
func Answer(message []byte) *Response {
	in := newPackets(bytes.NewReader(message))
	in.left = len(message)
	return &Response{p: &in, begun: true, Named: 10}
}
