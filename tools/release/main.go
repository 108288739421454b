// Command release makes everything that people install ktx from: archives, npm
// packages, packages for Linux, an image, a bundle for Claude Desktop, and the files
// for Homebrew, Scoop, nix and the MCP registry, with checksums, a bill of materials
// and the licences of all linked modules. It publishes nothing. `make
// release-snapshot` runs it.
//
// Two runs on one commit make the same bytes: every file has the time of the commit,
// and no path of the machine is in the programs.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("release: ")
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := command(ctx, os.Args[1:]); err != nil {
		stop()
		log.Fatal(err) //nolint:gocritic // stop was called
	}
}

func command(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("release", flag.ContinueOnError)
	out := flags.String("out", "dist", "the `directory` to write, which is emptied first")
	only := flags.String("targets", "", "build only for these `systems`, such as linux/amd64,darwin/arm64 (default: all)")
	nfpm := flags.String("nfpm", "", "the `path` of nfpm, which makes the packages for Linux")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	if *nfpm == "" {
		return errors.New("-nfpm is needed; make release-snapshot sets it")
	}
	built, err := chosen(*only)
	if err != nil {
		return err
	}
	v, err := readVersion(ctx)
	if err != nil {
		return err
	}
	r := &release{version: v, targets: built, dist: *out, nfpm: *nfpm}
	return r.make(ctx)
}

// chosen returns the targets that list names, or all.
func chosen(list string) ([]target, error) {
	if list == "" {
		return targets, nil
	}
	var found []target
	for name := range strings.SplitSeq(list, ",") {
		i := slices.IndexFunc(targets, func(t target) bool { return t.String() == name })
		if i < 0 {
			return nil, fmt.Errorf("-targets %s: there is no %s; expected some of %v", list, name, targets)
		}
		found = append(found, targets[i])
	}
	return found, nil
}

// release is one run.
type release struct {
	version version
	targets []target
	dist    string // the directory of the results
	nfpm    string

	work     string            // a directory for what is not a result
	programs map[target]string // the path of each built program
	shared   []file            // in each archive: licence, notices, man pages, completions
	modules  []module          // linked into any of the programs
	notices  []byte
}

func (r *release) make(ctx context.Context) (err error) {
	if err := clear(r.dist); err != nil {
		return err
	}
	r.work, err = os.MkdirTemp("", "ktx-release-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(r.work)) }()
	log.Printf("version %s", r.version)
	for _, step := range []struct {
		name string
		run  func(context.Context) error
	}{
		{"programs", r.build},
		{"licences", r.readLicences},
		{"man pages and completions", r.readManual},
		{"archives", r.archives},
		{"npm packages", r.npmPackages},
		{"Linux packages", r.linuxPackages},
		{"image", r.image},
		{"bundles for Claude Desktop", r.writeBundles},
		{"offers", r.offers},
		{"bill of materials", r.materials},
		{"checksums", r.checksums},
	} {
		log.Print(step.name)
		if err := step.run(ctx); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
	}
	return nil
}

// clear empties dir, or makes it. It refuses a directory that holds anything that a
// release does not have.
func clear(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	_, marked := os.Stat(filepath.Join(dir, checksumFile))
	if len(entries) > 0 && marked != nil && filepath.Base(dir) != "dist" {
		return fmt.Errorf("%s is not empty and holds no release", dir)
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	return os.MkdirAll(dir, 0o755) //nolint:gosec // what is released is for everyone
}

// result returns the path of a file of the release.
func (r *release) result(format string, args ...any) string {
	return filepath.Join(r.dist, fmt.Sprintf(format, args...))
}

// write writes a file of the release.
func (r *release) write(name string, data []byte) error {
	return os.WriteFile(filepath.Join(r.dist, name), data, 0o644) //nolint:gosec // what is released is for everyone
}
