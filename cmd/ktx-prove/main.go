// Command ktx-prove runs the cases of the corpus on real database servers,
// which it starts itself, and records what happened. With guard, it gives an
// MCP server such a database and puts the cases to that MCP server.
// docs/evidence/ktx-prove.md and corpus/GUARD.md describe it. It is never part of ktx.
package main

import (
	"os"

	"github.com/ktxhq/ktx/cmd/ktx-prove/internal/prove"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "guard" {
		os.Exit(prove.GuardMain(os.Args[2:], os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(prove.Main(os.Args[1:], os.Stdout, os.Stderr))
}
