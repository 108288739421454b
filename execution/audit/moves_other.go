//go:build !linux

package audit

import "os"

// moves is not known on this system; see moves_linux.go.
type moves struct{}

func watchMoves(*os.File) *moves { return nil }

func (*moves) none(os.FileInfo) bool { return false }

func (*moves) close() {}
