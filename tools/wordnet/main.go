// Command wordnet makes research/wiki/wordnet/wordnet.txt.gz of WordNet 3.0. The
// database is in Debian's package wordnet-base:
//
//	apt-get download wordnet-base && dpkg-deb -x wordnet-base_*.deb DIR
//	go run ./tools/wordnet DIR/usr/share/wordnet
package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"log"
	"os"

	"github.com/ktxhq/ktx/tools/wordnet/database"
)

// target is the file that is made.
const target = "research/wiki/wordnet/wordnet.txt.gz"

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: go run ./tools/wordnet DIR")
	}
	if err := run(os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

func run(dir string) error {
	d, err := database.Read(os.DirFS(dir))
	if err != nil {
		return fmt.Errorf("read WordNet: %w", err)
	}
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := w.Write(table(d)); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return os.WriteFile(target, packed.Bytes(), 0o644) //nolint:gosec // a file of the repository
}
