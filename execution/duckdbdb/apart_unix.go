//go:build unix

package duckdbdb

import "syscall"

// apart keeps a signal of the terminal, which ktx answers by itself, from the process.
func apart() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
