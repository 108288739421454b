package kit

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// The parts of the measurement, in their order.
var parts = []struct {
	name string
	run  func(*kit, context.Context) error
}{
	{"search", (*kit).searches},
	{"values", (*kit).values},
	{"pages", (*kit).pages},
	{"relationships", (*kit).relationships},
}

// needs says what the folder of data has to hold.
const needs = `DIR holds spider/tables.json, spider/dev.json, bird/dev_tables.json and bird/dev.json.
It may hold spider/database with SQLite files of Spider below, for relationships.`

// A kit is one run.
type kit struct {
	program  string // ktx
	data     string // the folder of data sets, or ""
	scratch  string
	seeds    int
	stderr   io.Writer
	terminal bool // stderr is one
	report   Report
}

// Run measures and returns the exit code: 0 when everything was measured, whatever the
// figures are, 1 when something could not be measured, and 2 for wrong usage.
func Run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	k := &kit{stderr: stderr, terminal: onTerminal(stderr), report: Report{Version: reportVersion, Figures: []Figure{}, Notes: []string{}}}
	flags := flag.NewFlagSet("eval", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&k.data, "data", "", "the `DIR` with data sets")
	flags.StringVar(&k.program, "ktx", "", "the ktx `PROGRAM` to ask; without it, ktx is built")
	flags.IntVar(&k.seeds, "seeds", 1, "generated databases for each habit of naming")
	only := flags.String("only", "", "measure only these `PARTS`: search, values, pages, relationships")
	asJSON := flags.Bool("json", false, "print the figures as JSON")
	flags.Usage = func() {
		_, _ = fmt.Fprintf(stderr, "usage: eval [flags]\n\n%s\n\n", needs)
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	wanted, err := k.wanted(*only, flags.Args())
	if err != nil {
		_, _ = fmt.Fprintln(stderr, "eval:", err)
		return 2
	}
	code := 0
	if err := k.measure(ctx, wanted); err != nil {
		_, _ = fmt.Fprintln(stderr, "eval:", err)
		code = 1
	}
	write := k.report.writeTable
	if *asJSON {
		write = k.report.writeJSON
	}
	if err := write(stdout); err != nil {
		_, _ = fmt.Fprintln(stderr, "eval: write the figures:", err)
		code = 1
	}
	return code
}

// wanted checks the arguments and returns the parts to measure.
func (k *kit) wanted(only string, rest []string) (map[string]bool, error) {
	if len(rest) > 0 {
		return nil, fmt.Errorf("%q is no flag", rest[0])
	}
	if k.seeds < 1 {
		return nil, errors.New("-seeds has to be 1 or more")
	}
	out := map[string]bool{}
	for _, p := range parts {
		out[p.name] = only == ""
	}
	if only != "" {
		for name := range strings.SplitSeq(only, ",") {
			if _, known := out[name]; !known {
				return nil, fmt.Errorf("there is no part %q; the parts are search, values, pages and relationships", name)
			}
			out[name] = true
		}
	}
	if k.data == "" {
		k.report.Notes = append(k.report.Notes, "Spider and BIRD were not measured: give their folder with -data DIR (make eval DATA=DIR).", needs)
		return out, nil
	}
	if !slices.ContainsFunc(sources, func(s source) bool { return k.has(filepath.Dir(s.tables)) }) {
		return nil, fmt.Errorf("%s has neither spider nor bird\n%s", k.data, needs)
	}
	return out, nil
}

// has reports whether the folder of data holds this name.
func (k *kit) has(name string) bool {
	if k.data == "" {
		return false
	}
	_, err := os.Stat(filepath.Join(k.data, name))
	return err == nil
}

// measure measures the wanted parts. An error in one does not stop the others.
func (k *kit) measure(ctx context.Context, wanted map[string]bool) (err error) {
	if k.scratch, err = os.MkdirTemp("", "ktx-eval-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(k.scratch)) }()
	if k.program == "" {
		k.program = filepath.Join(k.scratch, "ktx")
		_, _ = fmt.Fprintln(k.stderr, "eval: building ktx")
		out, err := exec.CommandContext(ctx, "go", "build", "-o", k.program, "github.com/ktxhq/ktx/cmd/ktx").CombinedOutput() // #nosec G204 -- the path is ours
		if err != nil {
			return fmt.Errorf("build ktx: %w\n%s", err, out)
		}
	}
	if k.program, err = filepath.Abs(k.program); err != nil {
		return err
	}
	for _, p := range parts {
		if !wanted[p.name] {
			continue
		}
		if failed := p.run(k, ctx); failed != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", p.name, failed))
		}
	}
	return err
}

// project makes an empty project below the scratch folder.
func (k *kit) project(name string) (*project, error) {
	return newProject(filepath.Join(k.scratch, name))
}
