package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "pgcatalog:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return errors.New("want harvest or generate")
	}
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	factsDir := flags.String("facts", "facts", "directory of the facts")
	outDir := flags.String("out", "../../../postgres", "directory of package postgres")
	url := flags.String("url", "", "server to harvest, with a superuser")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	known, err := ReadFacts(*factsDir)
	if err != nil {
		return err
	}
	switch args[0] {
	case "harvest":
		major, seen, err := Harvest(ctx, *url, os.Stderr)
		if err != nil {
			return fmt.Errorf("harvest: %w", err)
		}
		known.Replace(major, seen)
		return known.Write(*factsDir)
	case "generate":
		files, err := Generate(known)
		if err != nil {
			return fmt.Errorf("generate: %w", err)
		}
		return WriteFiles(*outDir, files)
	default:
		return fmt.Errorf("unknown sub-command %q", args[0])
	}
}
