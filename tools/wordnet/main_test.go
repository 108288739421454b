package main

import (
	"bytes"
	"errors"
	"os"
	"testing"

	"github.com/ktxhq/ktx/research/wiki/wordnet"
	"github.com/ktxhq/ktx/tools/wordnet/database"
)

// installed is where Debian's package wordnet-base has the database.
const installed = "/usr/share/wordnet"

// TestTable compares the table of the repository with what is made of WordNet.
func TestTable(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat(installed); err != nil {
		t.Skip("WordNet is not installed; Debian's package wordnet-base has it")
	}
	d, err := database.Read(os.DirFS(installed))
	if errors.Is(err, database.ErrOther) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(table(d), wordnet.Table()) {
		t.Error("research/wiki/wordnet/wordnet.txt.gz is not what WordNet gives; run go run ./tools/wordnet " + installed)
	}
}
