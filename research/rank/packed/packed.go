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

// Pack returns a gzip file that holds the text. Equal texts give equal files.
func Pack(text []byte) ([]byte, error) {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(text); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
