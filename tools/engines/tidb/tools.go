//go:build tools

// Package tools names the program that scripts/test-tidb builds.
package tools

import _ "github.com/pingcap/tidb/cmd/tidb-server"
