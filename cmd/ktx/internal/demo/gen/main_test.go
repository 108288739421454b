package main

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"testing"
)

// TestShopIsReproduced: the same program makes the same files, byte for byte,
// and they are those that the product carries.
func TestShopIsReproduced(t *testing.T) {
	t.Parallel()
	want, err := unpack(filepath.Join("..", "shop.db.gz"))
	if err != nil {
		t.Fatal(err)
	}
	files, err := unzip(filepath.Join("..", "shop.zip"))
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
		tables, err := exported(made)
		if err != nil {
			t.Fatal(err)
		}
		if len(tables) != 4 || !maps.EqualFunc(tables, files, bytes.Equal) {
			t.Fatal("other files were made than are carried; go generate makes them anew")
		}
		if err := generate(made); err != nil { // over what is there
			t.Fatal(err)
		}
	}
}
