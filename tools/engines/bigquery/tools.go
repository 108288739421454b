//go:build tools

// Package main of this folder also names the emulator, which scripts/test-bigquery builds.
package main

import _ "github.com/goccy/bigquery-emulator/cmd/bigquery-emulator"
