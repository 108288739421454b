//go:build !unix

package duckdbdb

import "syscall"

func apart() *syscall.SysProcAttr { return nil }
