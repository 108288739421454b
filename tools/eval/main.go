// Command eval measures how well ktx finds things: tables and columns, values, pages
// and relationships. It asks the ktx program, over MCP and with ktx scan:
//
//	go run ./tools/eval              what needs no data sets
//	go run ./tools/eval -data DIR    Spider and BIRD too
//	go run ./tools/eval -json        the figures as JSON
//
// It prints a table with what is required, the figure, and whether it is met. Package
// kit says what is measured.
package main

import (
	"context"
	"os"
	"os/signal"

	"github.com/ktxhq/ktx/tools/eval/kit"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := kit.Run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
