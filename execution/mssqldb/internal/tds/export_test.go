package tds

import "bytes"

// Answer reads bytes as the one message of an answer.
func Answer(message []byte) *Response {
	in := newPackets(bytes.NewReader(message))
	in.left = len(message)
	return &Response{p: &in, begun: true, Named: 10}
}
