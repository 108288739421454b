package daemon

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// StateVersion is the version of the state file.
const StateVersion = 1

// The address that a server listens on unless it is given another.
const (
	DefaultHost = "127.0.0.1"
	DefaultPort = 7878
)

// State is the state file of a server. It never holds the token.
type State struct {
	SchemaVersion int    `json:"schemaVersion"`
	PID           int    `json:"pid"`
	Host          string `json:"host"`
	Port          int    `json:"port"`
	TokenAuth     bool   `json:"tokenAuth"`
	ProjectDir    string `json:"projectDir"`
	StartedAt     string `json:"startedAt"` // RFC 3339
	LogPath       string `json:"logPath,omitempty"`
	Nonce         string `json:"nonce"`
	// Settings is a hash of the settings of the server, its tokens included, keyed
	// with the nonce. It differs for a server with other settings.
	Settings string `json:"settings"`
}

// Path returns the path of the state file of the project in dir.
func Path(dir string) string { return filepath.Join(dir, ".ktx", "mcp.json") }

// LogPath returns the path of the log of a server in the background.
func LogPath(dir string) string { return filepath.Join(dir, ".ktx", "logs", "mcp.log") }

// maxState bounds a state file, in bytes.
const maxState = 64 << 10

// Read reads the state file of the project in dir. The error is fs.ErrNotExist when
// there is none.
func Read(dir string) (*State, error) {
	f, err := os.Open(Path(dir))
	if err != nil {
		return nil, fmt.Errorf("read the state of the server: %w", err)
	}
	defer func() { _ = f.Close() }()
	var s State
	if err := json.NewDecoder(io.LimitReader(f, maxState)).Decode(&s); err != nil {
		return nil, fmt.Errorf("read %s: %w", Path(dir), err)
	}
	if s.SchemaVersion != StateVersion || s.PID <= 0 || s.Port <= 0 || s.Port > 65535 || s.Nonce == "" {
		return nil, fmt.Errorf("read %s: it is not the state of a server of this version", Path(dir))
	}
	return &s, nil
}

// Encode writes s in the format of the state file.
func (s State) Encode(w io.Writer) error {
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return fmt.Errorf("encode state: %w", err)
	}
	if _, err := w.Write(append(text, '\n')); err != nil {
		return fmt.Errorf("write state: %w", err)
	}
	return nil
}

// Remove removes the state file if it is still the file of s.
func (s State) Remove() error {
	now, err := Read(s.ProjectDir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && now.Nonce != s.Nonce {
		return nil
	}
	if err := os.Remove(Path(s.ProjectDir)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the state of the server: %w", err)
	}
	return nil
}

// Address returns the host and port at which clients on this machine reach the
// server.
func (s State) Address() string {
	host := strings.Trim(s.Host, "[]")
	if addr, err := netip.ParseAddr(host); err == nil && addr.IsUnspecified() {
		host = "127.0.0.1"
		if addr.Is6() {
			host = "::1"
		}
	}
	return net.JoinHostPort(host, strconv.Itoa(s.Port))
}

// URL returns the URL of MCP for clients on this machine.
func (s State) URL() string { return "http://" + s.Address() + "/mcp" }
