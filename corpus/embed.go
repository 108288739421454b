package corpus

import (
	"archive/zip"
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
	"sync"
)

// Schema names the format of class files and of cases.json.
const Schema = "ktx-corpus/1"

//go:embed files.zip
var packed []byte

var files = sync.OnceValue(func() fs.FS {
	archive, err := zip.NewReader(bytes.NewReader(packed), int64(len(packed)))
	if err != nil { // a test reads every file of it
		panic(fmt.Sprintf("corpus: files.zip: %v", err))
	}
	return archive
})

// Files returns the files of the corpus: cases.json, the class files, their
// schema, the documents, and the fixtures that make the tables of the cases. The
// binary has them packed, because they are 4 MB.
func Files() fs.FS { return files() }

type collection struct {
	Schema  string `json:"schema"`
	Version string `json:"version"`
	Cases   []Case `json:"cases"`
}

// load decodes cases.json, which is part of the binary. A test compares the
// file with its source, so a decoding error is a bug of the build.
var load = sync.OnceValue(func() collection {
	data, err := fs.ReadFile(files(), "cases.json")
	if err != nil {
		panic(fmt.Sprintf("corpus: %v", err))
	}
	var c collection
	if err := json.Unmarshal(data, &c); err != nil {
		panic(fmt.Sprintf("corpus: cases.json: %v", err))
	}
	return c
})

// Cases returns every case, ordered by dialect, class and ID. The caller owns
// the slice. The elements share data that must not be changed.
func Cases() []Case { return slices.Clone(load().Cases) }

// Version returns the version of the corpus. If the demand of an existing case
// changes, the major version changes. HISTORY.md lists the versions.
func Version() string { return load().Version }
