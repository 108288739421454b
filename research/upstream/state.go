package upstream

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/ktxhq/ktx/execution/filelock"
	"github.com/ktxhq/ktx/research/rootfile"
)

// The files below the folder of the project.
const (
	stateDir   = ".ktx/upstreams"
	cacheFile  = stateDir + "/tools.json"
	pinsFile   = stateDir + "/pins.json"
	maxState   = 256 << 20
	stateBrand = 1 // the version of the files
)

// cached is the list of tools of one server, as the cache keeps it.
type cached struct {
	Identity string            `json:"identity"` // of the server's configuration
	Listed   time.Time         `json:"listed"`
	Title    string            `json:"title,omitempty"`
	Tools    []json.RawMessage `json:"tools"`
}

// pinned is the definition of a tool that is trusted.
type pinned struct {
	Hash       string          `json:"hash"`
	Definition json.RawMessage `json:"definition"`
	Since      time.Time       `json:"since"`
}

type cacheState struct {
	Version int               `json:"version"`
	Servers map[string]cached `json:"servers"`
}

// pinsState has the pins by server and name of the tool.
type pinsState struct {
	Version int                          `json:"version"`
	Servers map[string]map[string]pinned `json:"servers"`
}

// readState reads a file of the state into v. A file that is missing leaves v as it is.
func readState(root *os.Root, name string, v any) error {
	f, err := root.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(io.LimitReader(f, maxState+1))
	if err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	if len(text) > maxState {
		return fmt.Errorf("read %s: it is larger than 256 MiB", name)
	}
	if err := json.Unmarshal(text, v); err != nil {
		return fmt.Errorf("read %s: it is damaged", name)
	}
	return nil
}

func writeState(root *os.Root, name string, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	if len(text) >= maxState {
		return fmt.Errorf("write %s: it would be larger than 256 MiB", name)
	}
	if err := root.MkdirAll(stateDir, 0o700); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return rootfile.Replace(root, name, 0o600, rootfile.Bytes(append(text, '\n')))
}

// readCache returns the cache. A cache that cannot be read is empty: it can be made
// again.
func readCache(root *os.Root) cacheState {
	var c cacheState
	if readState(root, cacheFile, &c) != nil || c.Version != stateBrand || c.Servers == nil {
		c = cacheState{Version: stateBrand, Servers: map[string]cached{}}
	}
	return c
}

// readPins returns the pins. Pins that cannot be read are an error: without them every
// change would be trusted.
func readPins(root *os.Root) (pinsState, error) {
	p := pinsState{Version: stateBrand}
	if err := readState(root, pinsFile, &p); err != nil {
		return p, fmt.Errorf("%w; remove the file to trust the tools as they are now", err)
	}
	if p.Version != stateBrand {
		return p, fmt.Errorf("read %s: version %d is not known", pinsFile, p.Version)
	}
	if p.Servers == nil {
		p.Servers = map[string]map[string]pinned{}
	}
	return p, nil
}

// locked calls f while no other process changes the state.
func locked(root *os.Root, f func() error) error { return lockedBy(root, stateDir+"/lock", f) }

// lockedBy calls f while no other process holds a lock.
func lockedBy(root *os.Root, name string, f func() error) error {
	if err := root.MkdirAll(stateDir, 0o700); err != nil {
		return fmt.Errorf("make %s: %w", stateDir, err)
	}
	lock, err := root.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("lock %s: %w", stateDir, err)
	}
	defer func() { _ = lock.Close() }()
	if err := filelock.Lock(lock); err != nil {
		return fmt.Errorf("lock %s: %w", stateDir, err)
	}
	return f()
}
