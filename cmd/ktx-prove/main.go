// Command ktx-prove runs the cases of the corpus on real database servers of
// its own and writes down what it saw. docs/evidence.md describes it. It is
// never part of the shipped binary.
package main

import (
	"os"

	"github.com/ktxhq/ktx/cmd/ktx-prove/internal/prove"
)

func main() { os.Exit(prove.Main(os.Args[1:], os.Stdout, os.Stderr)) }
