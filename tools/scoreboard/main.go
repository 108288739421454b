// Command scoreboard puts the cases of the corpus to MCP servers of other
// projects and to ktx, and writes docs/evidence/scoreboard.md from the results.
// scripts/scoreboard runs it.
//
//	scoreboard run -bin DIR -npm DIR -work DIR   run every server and write the results;
//	                                             -keep writes those that are there,
//	                                             -dialect D runs those of one database
//	scoreboard guards -bin DIR -npm DIR          run every guard without a server, too
//	scoreboard render                            write the page from the results
package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ktxhq/ktx/corpus"
)

// The files of the scoreboard, relative to the root of the checkout.
const (
	adapters = "corpus/adapters"
	results  = adapters + "/results.json"
	page     = "docs/evidence/scoreboard.md"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("scoreboard: ")
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := command(ctx, os.Args[1:]); err != nil {
		stop()
		log.Fatal(err) //nolint:gocritic // stop was called
	}
}

func command(ctx context.Context, args []string) error {
	if len(args) == 1 && args[0] == "render" {
		return render(".")
	}
	if len(args) > 0 && args[0] == "guards" {
		return guards(ctx, args[1:])
	}
	if len(args) == 0 || args[0] != "run" {
		return errors.New("usage: scoreboard run -bin DIR -npm DIR -work DIR | scoreboard guards -bin DIR -npm DIR | scoreboard render")
	}
	var r runner
	flags := flag.NewFlagSet("scoreboard run", flag.ContinueOnError)
	flags.StringVar(&r.bin, "bin", "", "the `directory` of ktx and ktx-prove")
	flags.StringVar(&r.npm, "npm", "", "the `directory` of the servers' programs, node_modules/.bin")
	flags.StringVar(&r.work, "work", "", "the `directory` for the run files; one that is there already is kept")
	flags.BoolVar(&r.keep, "keep", false, "run nothing; write the run files that are there, and keep the results of the others")
	flags.StringVar(&r.dialect, "dialect", "", "run the servers before the database of one `dialect`, and keep the results of the others")
	jobs := flags.Int("jobs", 2, "how many servers are tried at the same time")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	if r.bin == "" || r.npm == "" || r.work == "" || flags.NArg() > 0 {
		return errors.New("-bin, -npm and -work must be named, and nothing else")
	}
	for _, dir := range []*string{&r.bin, &r.npm, &r.work} {
		abs, err := filepath.Abs(*dir)
		if err != nil {
			return err
		}
		*dir = abs
	}
	servers, err := readServers(".")
	if err != nil {
		return err
	}
	if r.dialect != "" && !slices.ContainsFunc(servers, func(s server) bool { return s.Dialect == r.dialect }) {
		return fmt.Errorf("no server has the dialect %q", r.dialect)
	}
	if !r.keep {
		if err := r.all(ctx, servers, *jobs); err != nil {
			return err
		}
	}
	collected, err := r.collect(ctx, servers)
	if err != nil {
		return err
	}
	if err := writeResults(".", collected); err != nil {
		return err
	}
	return render(".")
}

// server is one way to start an MCP server, as servers.json has it.
type server struct {
	Name    string   `json:"name"`
	Dialect string   `json:"dialect"`
	Package string   `json:"package"` // of npm; empty for ktx
	Setting string   `json:"setting"`
	Promise string   `json:"promise"`
	Flags   []string `json:"flags"` // of ktx-prove guard
	Command []string `json:"command"`
}

// databases are the databases that the servers are put before, and the roles as
// which they connect. A file of SQLite has no roles.
var databases = []struct {
	dialect, title string
	roles          []string
}{
	{"postgres", "PostgreSQL", []string{"superuser", "select_only"}},
	{"mysql", "MariaDB", []string{"superuser", "select_only"}},
	{"sqlite", "SQLite", []string{"superuser"}},
}

// roles returns the roles as which a server connects.
func (s server) roles() []string {
	for _, d := range databases {
		if d.dialect == s.Dialect {
			return d.roles
		}
	}
	return nil
}

func readServers(root string) ([]server, error) {
	var list []server
	return list, readJSON(filepath.Join(root, adapters, "servers.json"), &list)
}

// readJSON reads a file that must have the members of into and no others.
func readJSON(path string, into any) error {
	text, err := os.ReadFile(path) //nolint:gosec // a file of the checkout
	if err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// runner runs ktx corpus run for each server and role.
type runner struct {
	bin, npm, work string
	keep           bool
	dialect        string // of the servers that are run; "" is all
}

// file returns the path of the run file of a server and role.
func (r runner) file(s server, role string) string {
	name := strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c == '-' {
			return c
		}
		return -1
	}, s.Name)
	return filepath.Join(r.work, name+"."+s.Dialect+"."+role+".json")
}

func (r runner) all(ctx context.Context, servers []server, jobs int) error {
	if err := os.MkdirAll(r.work, 0o750); err != nil {
		return err
	}
	type job struct {
		server server
		role   string
	}
	var waiting []job
	for _, s := range servers {
		if r.dialect != "" && s.Dialect != r.dialect {
			continue
		}
		for _, role := range s.roles() {
			waiting = append(waiting, job{s, role})
		}
	}
	var (
		mu     sync.Mutex
		failed []error
		work   sync.WaitGroup
	)
	for range max(jobs, 1) {
		work.Go(func() {
			for {
				mu.Lock()
				if len(waiting) == 0 || len(failed) > 0 {
					mu.Unlock()
					return
				}
				next := waiting[0]
				waiting = waiting[1:]
				mu.Unlock()
				if err := r.one(ctx, next.server, next.role); err != nil {
					mu.Lock()
					failed = append(failed, fmt.Errorf("%s on %s as %s: %w", next.server.Name, next.server.Dialect, next.role, err))
					mu.Unlock()
				}
			}
		})
	}
	work.Wait()
	return errors.Join(failed...)
}

// one runs one server as one role, unless its run file exists.
func (r runner) one(ctx context.Context, s server, role string) error {
	file := r.file(s, role)
	if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	here, err := filepath.Abs(adapters)
	if err != nil {
		return err
	}
	fill := strings.NewReplacer("{bin}", r.bin, "{npm}", r.npm, "{adapters}", here)
	words := []string{"--dialect", s.Dialect, "--role", role, "--log", strings.TrimSuffix(file, ".json") + ".log"}
	words = append(append(append(words, s.Flags...), "--"), s.Command...)
	for i, word := range words {
		words[i] = quoted(fill.Replace(word))
	}
	begun := time.Now()
	//nolint:gosec // the program that was just built
	cmd := exec.CommandContext(ctx, filepath.Join(r.bin, "ktx"), "corpus", "run", "--dialect", s.Dialect, "--failures=false",
		"--json", file, "--guard", "mcp:"+strings.Join(words, " "))
	out, err := cmd.CombinedOutput()
	// The exit codes 1 and 3 mean that cases were not met or not judged, which
	// is a result.
	if ended, ok := errors.AsType[*exec.ExitError](err); ok && ended.ExitCode() != 2 {
		if _, missing := os.Stat(file); missing == nil {
			err = nil
		}
	}
	if err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	log.Printf("%s on %s as %s: %s", s.Name, s.Dialect, role, time.Since(begun).Round(time.Second))
	return nil
}

// quoted quotes a word for a command line of ktx.
func quoted(word string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(word) + `"`
}

// scoreboard is the content of results.json: the result of every case.
type scoreboard struct {
	Schema    string            `json:"schema"`
	Date      string            `json:"date"`
	Commit    string            `json:"commit"`
	Corpus    string            `json:"corpus"` // its version
	CorpusSHA string            `json:"corpusSHA256"`
	LockSHA   string            `json:"lockSHA256"`
	Node      string            `json:"node"`
	Engines   map[string]string `json:"engines"` // names and versions, by dialect
	Runs      []run             `json:"runs"`
}

// run is one server with one role.
type run struct {
	Server  string              `json:"server"`
	Dialect string              `json:"dialect"`
	Version string              `json:"version"` // of the package, or what ktx reports
	Corpus  string              `json:"corpus"`  // the version whose cases the server was given
	Role    string              `json:"role"`
	Cases   map[string][]string `json:"cases"` // IDs by decision and code: "allow executed"
}

const schema = "ktx-scoreboard/3"

// collect reads the results from the run files.
func (r runner) collect(ctx context.Context, servers []server) (*scoreboard, error) {
	lock, err := readLock(adapters)
	if err != nil {
		return nil, err
	}
	version, sum, err := exported(ctx, filepath.Join(r.bin, "ktx"))
	if err != nil {
		return nil, err
	}
	all := &scoreboard{
		Schema: schema, Engines: map[string]string{}, Date: time.Now().UTC().Format(time.DateOnly), Corpus: version,
		CorpusSHA: sum, LockSHA: lock.sha256,
		Commit: said(ctx, "git", "rev-parse", "--short=12", "HEAD"), Node: strings.TrimPrefix(said(ctx, "node", "--version"), "v"),
	}
	before := &scoreboard{}
	keep := r.keep || r.dialect != ""
	if keep {
		if before, err = readResults("."); err != nil {
			return nil, err
		}
		maps.Copy(all.Engines, before.Engines)
	}
	known := map[string]bool{}
	for _, c := range corpus.Cases() {
		known[c.ID] = true
	}
	for _, s := range servers {
		for _, role := range s.roles() {
			text, err := os.ReadFile(r.file(s, role))
			if errors.Is(err, fs.ErrNotExist) && keep {
				kept := slices.IndexFunc(before.Runs, func(b run) bool { return b.Server == s.Name && b.Dialect == s.Dialect && b.Role == role })
				if kept < 0 {
					return nil, fmt.Errorf("%s on %s as %s: no run, and no result to keep", s.Name, s.Dialect, role)
				}
				all.Runs = append(all.Runs, before.Runs[kept])
				continue
			}
			if err != nil {
				return nil, err
			}
			var f struct {
				Corpus  struct{ Version string }
				Guard   map[string]string
				Results []struct{ ID, Decision, Code, Fault string }
			}
			if err := json.Unmarshal(text, &f); err != nil {
				return nil, fmt.Errorf("%s: %w", r.file(s, role), err)
			}
			one := run{Server: s.Name, Dialect: s.Dialect, Version: f.Guard["version"], Corpus: f.Corpus.Version, Role: role, Cases: map[string][]string{}}
			if s.Package != "" {
				one.Version = lock.versions[s.Package]
			}
			for _, result := range f.Results {
				if key := result.Decision + " " + result.Code + result.Fault; known[result.ID] {
					one.Cases[key] = append(one.Cases[key], result.ID)
				}
			}
			all.Engines[s.Dialect] = f.Guard["engine"]
			all.Runs = append(all.Runs, one)
		}
	}
	return all, nil
}

// said returns the first line that a program prints, or "unknown".
func said(ctx context.Context, name string, args ...string) string {
	out, err := exec.CommandContext(ctx, name, args...).Output() //nolint:gosec // constants of this program
	line, _, _ := strings.Cut(string(out), "\n")
	if err != nil || line == "" {
		return "unknown"
	}
	return line
}

// lockFile is the part of package-lock.json that this program reads.
type lockFile struct {
	sha256   string
	versions map[string]string // of the packages that package.json names
	packages map[string]lockedPackage
}

type lockedPackage struct {
	Version, Resolved, Integrity string
}

// readLock reads the lock file in a directory.
func readLock(dir string) (*lockFile, error) {
	text, err := os.ReadFile(filepath.Join(dir, "package-lock.json")) //nolint:gosec // a file of the checkout
	if err != nil {
		return nil, err
	}
	var doc struct {
		Packages map[string]lockedPackage
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		return nil, fmt.Errorf("package-lock.json: %w", err)
	}
	sum := sha256.Sum256(text)
	l := &lockFile{sha256: hex.EncodeToString(sum[:]), versions: map[string]string{}, packages: doc.Packages}
	for path, p := range doc.Packages {
		l.versions[strings.TrimPrefix(path, "node_modules/")] = p.Version
	}
	return l, nil
}

// writeResults writes one line for each run and code.
func writeResults(root string, s *scoreboard) error {
	head := *s
	head.Runs = nil
	text, err := json.MarshalIndent(head, "", " ")
	if err != nil {
		return err
	}
	var b strings.Builder
	b.WriteString(strings.TrimSuffix(string(text), "null\n}"))
	b.WriteString("[")
	for i, one := range s.Runs {
		if i > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(&b, "\n  {\n   \"server\": %q,\n   \"dialect\": %q,\n   \"version\": %q,\n   \"corpus\": %q,\n   \"role\": %q,\n   \"cases\": {", one.Server, one.Dialect, one.Version, one.Corpus, one.Role)
		for j, key := range slices.Sorted(maps.Keys(one.Cases)) {
			if j > 0 {
				b.WriteString(",")
			}
			ids, err := json.Marshal(one.Cases[key])
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, "\n    %q: %s", key, ids)
		}
		b.WriteString("\n   }\n  }")
	}
	b.WriteString("\n ]\n}\n")
	return os.WriteFile(filepath.Join(root, results), []byte(b.String()), 0o644) //nolint:gosec // as every file of the checkout
}

func readResults(root string) (*scoreboard, error) {
	s := &scoreboard{}
	if err := readJSON(filepath.Join(root, results), s); err != nil {
		return nil, err
	}
	if s.Schema != schema {
		return nil, fmt.Errorf("%s: the schema is %q", results, s.Schema)
	}
	return s, nil
}

// render writes the page from the results.
func render(root string) error {
	text, err := rendered(root)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(root, page), []byte(text), 0o644) //nolint:gosec // as every file of the checkout
}

// rendered returns the page for the results.
func rendered(root string) (string, error) {
	s, err := readResults(root)
	if err != nil {
		return "", err
	}
	servers, err := readServers(root)
	if err != nil {
		return "", err
	}
	var list []guard
	found := &guardResults{}
	if err := errors.Join(readJSON(filepath.Join(root, guardDir, "guards.json"), &list), readJSON(filepath.Join(root, guardDir, "results.json"), found)); err != nil {
		return "", err
	}
	if found.Schema != guardSchema {
		return "", fmt.Errorf("%s/results.json: the schema is %q", guardDir, found.Schema)
	}
	cases := map[string]corpus.Case{}
	for _, c := range corpus.Cases() {
		cases[c.ID] = c
	}
	judged, err := guardSection(found, list, cases)
	if err != nil {
		return "", err
	}
	return markdown(s, servers, cases, judged)
}
