package main

import (
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/corpus"
)

const root = "../.."

var update = flag.Bool("update", false, "write docs/evidence/scoreboard.md from the results")

// TestPage checks that the page agrees with the results.
func TestPage(t *testing.T) {
	if *update {
		if err := render(root); err != nil {
			t.Fatal(err)
		}
	}
	want, err := rendered(root)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(root, page))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("the page is not what the results make; go run ./tools/scoreboard render writes it (-results +page):\n%s", diff)
	}
}

// TestResults checks that the results are for the versions in the lock file,
// cover every server and role, and have each case once.
func TestResults(t *testing.T) {
	s, err := readResults(root)
	if err != nil {
		t.Fatal(err)
	}
	lock, err := readLock(filepath.Join(root, adapters))
	if err != nil {
		t.Fatal(err)
	}
	if s.LockSHA != lock.sha256 {
		t.Errorf("the results are of another package-lock.json: %s, not %s", s.LockSHA, lock.sha256)
	}
	servers, err := readServers(root)
	if err != nil {
		t.Fatal(err)
	}
	var want, got []string
	for _, server := range servers {
		for _, role := range server.roles() {
			version := ""
			if server.Package != "" {
				if version = lock.versions[server.Package]; version == "" {
					t.Errorf("%s: %s is not in the lock file", server.Name, server.Package)
				}
			}
			want = append(want, server.Name+" "+server.Dialect+" "+role+" "+version)
		}
	}
	dialects := map[string]string{}
	for _, c := range corpus.Cases() {
		dialects[c.ID] = c.Dialect
	}
	cases := map[string]int{}
	for _, r := range s.Runs {
		version := r.Version
		if r.Server == "ktx" {
			version = ""
		}
		got = append(got, r.Server+" "+r.Dialect+" "+r.Role+" "+version)
		seen := map[string]bool{}
		for key, ids := range r.Cases {
			for _, id := range ids {
				if is, known := dialects[id]; seen[id] || known && is != r.Dialect {
					t.Errorf("%s on %s as %s: %s: %s is listed twice or a case of another dialect", r.Server, r.Dialect, r.Role, key, id)
				}
				seen[id] = true
			}
		}
		given := r.Dialect + " " + r.Corpus
		if n, other := cases[given]; r.Corpus == "" || other && len(seen) != n {
			t.Errorf("%s on %s as %s: %d cases of the corpus %q; another run has %d", r.Server, r.Dialect, r.Role, len(seen), r.Corpus, n)
		}
		cases[given] = len(seen)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-servers and lock file +results):\n%s", diff)
	}
}

// TestGuards checks that the results of the guards without a server are for the
// versions in their lock file, and cover every guard and dialect.
func TestGuards(t *testing.T) {
	var list []guard
	var s guardResults
	dir := filepath.Join(root, guardDir)
	if err := errors.Join(readJSON(filepath.Join(dir, "guards.json"), &list), readJSON(filepath.Join(dir, "results.json"), &s)); err != nil {
		t.Fatal(err)
	}
	lock, err := readLock(dir)
	if err != nil {
		t.Fatal(err)
	}
	if s.LockSHA != lock.sha256 {
		t.Errorf("the results are of another package-lock.json: %s, not %s", s.LockSHA, lock.sha256)
	}
	var want, got []string
	for _, g := range list {
		for _, dialect := range g.Dialects {
			want = append(want, g.Name+" "+lock.versions[g.Package]+" "+dialect)
		}
	}
	dialects := map[string]string{}
	for _, c := range corpus.Cases() {
		dialects[c.ID] = c.Dialect
	}
	if minor(s.Corpus) != minor(corpus.Version()) {
		t.Errorf("the guards were given the corpus %s, which is %s now; make scoreboard ARGS=guards takes a minute", s.Corpus, corpus.Version())
	}
	for _, r := range s.Runs {
		got = append(got, r.Guard+" "+r.Version+" "+r.Dialect)
		seen := map[string]bool{}
		for key, ids := range r.Cases {
			for _, id := range ids {
				if is, known := dialects[id]; seen[id] || known && is != r.Dialect {
					t.Errorf("%s, %s: %s: %s is listed twice or a case of another dialect", r.Guard, r.Dialect, key, id)
				}
				seen[id] = true
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-guards and lock file +results):\n%s", diff)
	}
}

// minor returns a version without its last number, which grows when no statement changes.
func minor(version string) string {
	return version[:max(strings.LastIndexByte(version, '.'), 0)]
}

// TestLock checks that the versions are exact, that the lock files have a hash
// for every package, and that they name no other registry.
func TestLock(t *testing.T) {
	for _, dir := range []string{adapters, guardDir} {
		lock, err := readLock(filepath.Join(root, dir))
		if err != nil {
			t.Fatal(err)
		}
		var named struct {
			Dependencies map[string]string
		}
		text, err := os.ReadFile(filepath.Join(root, dir, "package.json"))
		if err == nil {
			err = json.Unmarshal(text, &named)
		}
		if err != nil || len(named.Dependencies) < 2 {
			t.Fatalf("%s/package.json names %d packages: %v", dir, len(named.Dependencies), err)
		}
		for name, version := range named.Dependencies {
			if lock.versions[name] != version {
				t.Errorf("%s: %s/package.json has %q, the lock file %q", name, dir, version, lock.versions[name])
			}
		}
		for path, p := range lock.packages {
			if path == "" {
				continue
			}
			if !strings.HasPrefix(p.Integrity, "sha512-") {
				t.Errorf("%s has the hash %q", path, p.Integrity)
			}
			if p.Resolved != "" && !strings.HasPrefix(p.Resolved, "https://registry.npmjs.org/") {
				t.Errorf("%s comes from %s", path, p.Resolved)
			}
		}
	}
}

// TestCount checks what each figure counts.
func TestCount(t *testing.T) {
	cases := map[string]corpus.Case{
		"a": {Class: "x", Expect: corpus.Reject}, "b": {Class: "x", Expect: corpus.Reject}, "c": {Class: "y", Expect: corpus.Reject},
		"d": {Class: "y", Expect: corpus.Reject}, "e": {Class: "y", Expect: corpus.Reject}, "f": {Class: "y", Expect: corpus.Reject},
		"g": {Class: "y", Expect: corpus.Reject}, "h": {Class: "y", Expect: corpus.Reject},
		"p": {Class: "y", Expect: corpus.Policy},
		"A": {Expect: corpus.Allow}, "B": {Expect: corpus.Allow}, "C": {Expect: corpus.Allow}, "D": {Expect: corpus.Allow},
	}
	got, err := count(run{Cases: map[string][]string{
		"allow executed":                   {"a", "p", "A", "gone"},
		"allow executed_changed":           {"b"},
		"allow executed_until_limit":       {"c", "B"},
		"reject refused_by_server":         {"d", "C"},
		"reject refused_by_database_25006": {"e"},
		"reject fails_anyway_42601":        {"f"},
		"error crash":                      {"g"},
		"error not_text":                   {"h"},
		"error not_runnable":               {"D"},
	}}, cases)
	want := tally{
		rejects: 7, executed: 3, changed: 1, limit: 1, byServer: 1, byDatabase: 1, anyway: 1, rejectFaults: 1, rejectOpen: 1,
		allows: 3, falseRejects: 1, notHere: 1, class: map[string]share{"x": {2, 2}, "y": {1, 5}},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(tally{}, share{})); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if _, err := count(run{Cases: map[string][]string{"allow unheard_of": {"a"}}}, cases); err == nil {
		t.Error("an unknown code is counted")
	}
}
