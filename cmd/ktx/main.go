// Command ktx is an SQL safety gateway with research tools for data agents.
package main

import (
	"os"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli"
)

func main() { os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }
