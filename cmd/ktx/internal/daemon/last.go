package daemon

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Last is the address of the server of a project that ran last. Unlike [State] it
// stays when the server stops, so that the settings of clients keep their address.
type Last struct {
	Host string `json:"host"`
	Port int    `json:"port"`
}

// LastPath returns the path of the file with the address of the last server of the
// project in dir.
func LastPath(dir string) string { return filepath.Join(dir, ".ktx", "mcp-last.json") }

// ReadLast reads the address of the last server of the project in dir. The error is
// fs.ErrNotExist when no server ran.
func ReadLast(dir string) (Last, error) {
	f, err := os.Open(LastPath(dir))
	if err != nil {
		return Last{}, fmt.Errorf("read the address of the last server: %w", err)
	}
	defer func() { _ = f.Close() }()
	var l Last
	if err := json.NewDecoder(io.LimitReader(f, maxState)).Decode(&l); err != nil {
		return Last{}, fmt.Errorf("read %s: %w", LastPath(dir), err)
	}
	if l.Host == "" || l.Port <= 0 || l.Port > 65535 {
		return Last{}, fmt.Errorf("read %s: it is not the address of a server", LastPath(dir))
	}
	return l, nil
}

// Encode writes l in the format of its file.
func (l Last) Encode(w io.Writer) error {
	if err := json.NewEncoder(w).Encode(l); err != nil {
		return fmt.Errorf("write the address of the server: %w", err)
	}
	return nil
}
