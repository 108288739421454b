package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ktxhq/ktx/corpus"
)

// guardDir is where the guards without a server are, relative to the root.
const guardDir = adapters + "/guards"

// guard is a program that judges statements without a database, as guards.json has
// it.
type guard struct {
	Name     string   `json:"name"`
	Package  string   `json:"package"` // of npm; empty for ktx
	Setting  string   `json:"setting"`
	Promise  string   `json:"promise"`
	Dialects []string `json:"dialects"`
	Script   string   `json:"script"` // for Node.js; empty for ktx
}

// guardResults is the content of guards/results.json.
type guardResults struct {
	Schema    string      `json:"schema"`
	Date      string      `json:"date"`
	Commit    string      `json:"commit"`
	Corpus    string      `json:"corpus"`
	CorpusSHA string      `json:"corpusSHA256"`
	LockSHA   string      `json:"lockSHA256"`
	Node      string      `json:"node"`
	Runs      []guardRuns `json:"runs"`
}

// guardRuns is one guard with the cases of one dialect.
type guardRuns struct {
	Guard   string              `json:"guard"`
	Version string              `json:"version"` // of the package; empty for ktx
	Dialect string              `json:"dialect"`
	Cases   map[string][]string `json:"cases"` // IDs by decision
}

const guardSchema = "ktx-scoreboard-guards/1"

// guards runs every guard and writes its results.
func guards(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("scoreboard guards", flag.ContinueOnError)
	bin := flags.String("bin", "", "the `directory` of ktx")
	packages := flags.String("npm", "", "the `directory` of the scripts and their node_modules")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *bin == "" || *packages == "" || flags.NArg() > 0 {
		return errors.New("-bin and -npm must be named, and nothing else")
	}
	var list []guard
	if err := readJSON(filepath.Join(guardDir, "guards.json"), &list); err != nil {
		return err
	}
	lock, err := readLock(guardDir)
	if err != nil {
		return err
	}
	ktx := filepath.Join(*bin, "ktx")
	version, sum, err := exported(ctx, ktx)
	if err != nil {
		return err
	}
	all := &guardResults{
		Schema: guardSchema, Date: time.Now().UTC().Format(time.DateOnly), Corpus: version, CorpusSHA: sum, LockSHA: lock.sha256,
		Commit: said(ctx, "git", "rev-parse", "--short=12", "HEAD"), Node: strings.TrimPrefix(said(ctx, "node", "--version"), "v"),
	}
	for _, g := range list {
		for _, dialect := range g.Dialects {
			cases, err := g.run(ctx, ktx, *packages, dialect)
			if err != nil {
				return fmt.Errorf("%s, %s: %w", g.Name, dialect, err)
			}
			all.Runs = append(all.Runs, guardRuns{g.Name, lock.versions[g.Package], dialect, cases})
		}
	}
	text, err := json.Marshal(all)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(guardDir, "results.json"), append(text, '\n'), 0o644); err != nil { //nolint:gosec // as every file of the checkout
		return err
	}
	return render(".")
}

// run puts the cases of a dialect to the guard. It returns the IDs by decision.
func (g guard) run(ctx context.Context, ktx, packages, dialect string) (map[string][]string, error) {
	file, err := os.CreateTemp("", "ktx-guard-*.json")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.Remove(file.Name()) }()
	if err := file.Close(); err != nil {
		return nil, err
	}
	args := []string{"corpus", "run", "--dialect", dialect, "--failures=false", "--json", file.Name()}
	if g.Script != "" {
		args = append(args, "--guard", "exec:node "+quoted(filepath.Join(packages, g.Script)))
	}
	out, err := exec.CommandContext(ctx, ktx, args...).CombinedOutput() //nolint:gosec // the program that was just built
	const missed = 1                                                    // an expectation, which is a result
	if ended, ok := errors.AsType[*exec.ExitError](err); err != nil && (!ok || ended.ExitCode() != missed) {
		return nil, fmt.Errorf("%w\n%s", err, out)
	}
	var f struct {
		Results []struct{ ID, Decision, Fault string }
	}
	text, err := os.ReadFile(file.Name())
	if err == nil {
		err = json.Unmarshal(text, &f)
	}
	if err != nil {
		return nil, err
	}
	cases := map[string][]string{}
	for _, r := range f.Results {
		key := strings.TrimSpace(r.Decision + " " + r.Fault)
		cases[key] = append(cases[key], r.ID)
	}
	return cases, nil
}

// exported returns the version of the cases that a program was built with, and the
// hash of cases.json.
func exported(ctx context.Context, ktx string) (version, sum string, err error) {
	cases, err := exec.CommandContext(ctx, ktx, "corpus", "export", "--format", "json").Output()
	var built struct{ Version string }
	if err == nil {
		err = json.Unmarshal(cases, &built)
	}
	if err != nil {
		return "", "", fmt.Errorf("export the cases: %w", err)
	}
	hash := sha256.Sum256(cases)
	return built.Version, hex.EncodeToString(hash[:]), nil
}

// guardSection returns the part of the page about guards without a server. It counts
// the cases that the corpus still has.
func guardSection(s *guardResults, list []guard, cases map[string]corpus.Case) (string, error) {
	var b strings.Builder
	b.WriteString(guardOpening)
	fmt.Fprintf(&b, "%s, Node.js %s, corpus %s with SHA-256 of cases.json `%s`, ktx built from commit `%s` or its work tree.\n\n", s.Date, s.Node, s.Corpus, s.CorpusSHA, s.Commit)
	b.WriteString("| guard | version | setting | what it promises |\n|---|---|---|---|\n")
	for _, g := range list {
		i := slices.IndexFunc(s.Runs, func(r guardRuns) bool { return r.Guard == g.Name })
		if i < 0 {
			return "", fmt.Errorf("no run of %s", g.Name)
		}
		version := s.Runs[i].Version
		if g.Package == "" {
			version = "see above"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", g.Name, version, g.Setting, g.Promise)
	}
	b.WriteString("\n| guard | dialect | let pass, of those that must be refused | refused, of those that must pass | crash, time-out |\n|---|---|---|---|---|\n")
	for _, r := range s.Runs {
		var bypasses, falseRejects share
		faults := 0
		for _, key := range slices.Sorted(maps.Keys(r.Cases)) {
			for _, id := range r.Cases[key] {
				switch cases[id].Expect {
				case corpus.Reject:
					bypasses.of++
					if key == "allow" {
						bypasses.n++
					}
				case corpus.Allow:
					falseRejects.of++
					if key == "reject" {
						falseRejects.n++
					}
				case corpus.Policy: // either answer is right
					continue
				default: // the corpus no longer has the case
					continue
				}
				if strings.HasPrefix(key, "error") {
					faults++
				}
			}
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %d |\n", r.Guard, r.Dialect, bypasses, falseRejects, faults)
	}
	return b.String(), nil
}

const guardOpening = `
## Guards without a server

These programs judge the text alone, over the [protocol of a guard](../../corpus/GUARD.md),
and no statement ran. So the figures are not comparable with those above: a statement
that passes here may still fail in a database. ` + "`make scoreboard ARGS=guards`" + ` repeats it.

`
