package corpus

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
	"sync"
)

// Schema is the name of the format: in class files, and in cases.json.
const Schema = "ktx-corpus/1"

//go:embed cases.json schema.json README.md INTERPRETING.md HISTORY.md INDEX.md SHA256SUMS mysql postgres sqlite sqlserver fixtures
var files embed.FS

// Files returns the corpus as files: cases.json, the class files, the schema
// of class files, the documents, and the database that cases name.
func Files() fs.FS { return files }

type collection struct {
	Schema  string `json:"schema"`
	Version string `json:"version"`
	Cases   []Case `json:"cases"`
}

// load decodes cases.json. The file is part of the binary and compared with
// its source by a test, so a fault in it is a fault of the build.
var load = sync.OnceValue(func() collection {
	data, err := files.ReadFile("cases.json")
	if err != nil {
		panic(fmt.Sprintf("corpus: %v", err))
	}
	var c collection
	if err := json.Unmarshal(data, &c); err != nil {
		panic(fmt.Sprintf("corpus: cases.json: %v", err))
	}
	return c
})

// Cases returns every case, ordered by dialect, class and ID. They are decoded
// once. The slice is the caller's; what its elements point to is shared and
// must not be changed.
func Cases() []Case { return slices.Clone(load().Cases) }

// Version returns the version of the corpus. A changed demand on an existing
// case is a new major version; HISTORY.md lists the versions.
func Version() string { return load().Version }
