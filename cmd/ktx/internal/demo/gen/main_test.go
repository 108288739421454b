package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestShopIsReproduced: the same program makes the same file, byte for byte,
// and it is the one that the product carries.
func TestShopIsReproduced(t *testing.T) {
	t.Parallel()
	want, err := unpack(filepath.Join("..", "shop.db.gz"))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		made := filepath.Join(t.TempDir(), "shop.db")
		if err := generate(made); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(made)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Fatalf("%d bytes were made, %d are carried; go generate makes them anew", len(got), len(want))
		}
		if err := generate(made); err != nil { // over what is there
			t.Fatal(err)
		}
	}
}
