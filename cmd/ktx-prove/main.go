// Command ktx-prove runs the cases of the corpus on real database servers of
// its own and writes down what it saw, and puts them to MCP servers before such a
// database. docs/evidence/ktx-prove.md describes it. It is never part of
// the shipped binary.
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
