// Package packed unpacks the tables of words that are part of the program.
package packed

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
)

// Unpack returns what a gzip file of the program holds.
func Unpack(file []byte) []byte {
	r, err := gzip.NewReader(bytes.NewReader(file))
	if err != nil {
		panic(fmt.Sprintf("a packed table: %v", err)) // the file is part of the program
	}
	text, err := io.ReadAll(r)
	if err != nil {
		panic(fmt.Sprintf("a packed table: %v", err))
	}
	return text
}
