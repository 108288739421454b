package catalog

import "os"

// Store reads the scans of a project. It is safe for concurrent use.
type Store struct {
	root *os.Root // the project's folder
}

// NewStore returns a store over the folder of a project. It opens no file, and
// the caller closes root.
func NewStore(root *os.Root) *Store { return &Store{root: root} }
