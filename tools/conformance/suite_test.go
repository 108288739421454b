package conformance_test

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

// A revision of the protocol, and the number of scenarios that the suite
// requires.
type revision struct {
	name      string
	scenarios int
}

var revisions = []revision{{"2025-11-25", 30}, {"2026-07-28", 37}}

// TestSuite runs the conformance suite twice for each revision. The first run
// is against the suite's own fixture, behind our checks, sessions and handlers;
// everything must pass. The second run is against the shipped server, which has
// other tools than the fixture.
func TestSuite(t *testing.T) {
	p := installed(t)
	program := fixture(t, p)
	t.Run("fixture", func(t *testing.T) {
		url := everything(t, program, "")
		for _, r := range revisions {
			t.Run(r.name, func(t *testing.T) { r.passes(t, p, url) })
		}
	})
	t.Run("fixture with a token", func(t *testing.T) {
		const token = "conformance-token"
		url := everything(t, program, token)
		proxy := newRecorder(t, url, token)
		for _, r := range revisions {
			t.Run(r.name, func(t *testing.T) { r.passes(t, p, proxy.url) })
		}
		t.Run("none without it", func(t *testing.T) {
			out, _ := suite(t, p, url, "--scenario", "server-initialize", "--spec-version", revisions[0].name)
			if c := out.checks["server-initialize"]; out.code == 0 || len(out.failed("server-initialize")) == 0 {
				t.Errorf("exit code %d, %+v", out.code, c)
			}
		})
	})
	dir := p.project(t)
	url := p.serve(t, dir, "")
	for _, r := range revisions {
		t.Run("shipped/"+r.name, func(t *testing.T) { r.shipped(t, p, url) })
		t.Run("expected failures/"+r.name, func(t *testing.T) { r.callsFixtures(t, p, url) })
	}
}

// passes runs everything that a revision requires. Nothing may fail.
func (r revision) passes(t *testing.T, p programs, url string) {
	t.Helper()
	out, text := suite(t, p, url, "--requirements", r.name)
	required := r.required(t, p)
	passed, checks := 0, 0
	for _, scenario := range required {
		if failed := out.failed(scenario); len(failed) > 0 || len(out.checks[scenario]) == 0 {
			t.Errorf("%s: %d checks ran, and there failed %q", scenario, len(out.checks[scenario]), failed)
			continue
		}
		passed++
		checks += len(out.checks[scenario])
	}
	if out.code != 0 {
		t.Errorf("exit code %d\n%s", out.code, text)
	}
	t.Logf("%d of %d scenarios, %d checks", passed, len(required), checks)
}

// shipped runs everything that a revision requires against the shipped server.
// Exactly the expected checks must fail.
func (r revision) shipped(t *testing.T, p programs, url string) {
	t.Helper()
	list, err := filepath.Abs("expected-" + r.name + ".yml")
	if err != nil {
		t.Fatal(err)
	}
	out, text := suite(t, p, url, "--requirements", r.name, "--expected-failures", list)
	if out.code != 0 {
		t.Errorf("exit code %d\n%s", out.code, text)
	}
	required := r.required(t, p)
	var failed []string
	passed := 0
	for _, scenario := range required {
		if len(out.checks[scenario]) == 0 {
			t.Errorf("%s did not run", scenario)
		}
		bad := out.failed(scenario)
		if len(bad) == 0 {
			passed++
		}
		failed = append(failed, bad...)
	}
	if diff := cmp.Diff(sorted(r.expected(t)), sorted(failed)); diff != "" {
		t.Errorf("failed checks (-expected +seen):\n%s", diff)
	}
	t.Logf("%d of %d scenarios; %d checks of the others fail for want of the fixture", passed, len(required), len(failed))
}

// callsFixtures checks that the list of a revision only has scenarios in which
// the suite asks for a part of its fixture by name. A recorder between suite
// and server sees the requests.
func (r revision) callsFixtures(t *testing.T, p programs, url string) {
	t.Helper()
	names := func(scenario string) []string {
		proxy := newRecorder(t, url, "")
		out, text := suite(t, p, proxy.url, "--scenario", scenario, "--spec-version", r.name)
		if len(out.checks[scenario]) == 0 {
			t.Fatalf("%s did not run\n%s", scenario, text)
		}
		return proxy.fixtures()
	}
	// The recorder rejects other scenarios.
	if found := names("tools-list"); len(found) != 0 {
		t.Errorf("tools-list asks for %q", found)
	}
	seen := map[string]bool{}
	for _, check := range r.expected(t) {
		scenario, _, _ := strings.Cut(check, ":")
		if seen[scenario] {
			continue
		}
		seen[scenario] = true
		if found := names(scenario); len(found) == 0 {
			t.Errorf("%s asks for nothing that only the fixture has, and must not be expected to fail", scenario)
		}
	}
	if !t.Failed() {
		t.Logf("each of %d scenarios asks for something of the fixture", len(seen))
	}
}

// expected returns the checks of the list, as scenario:check.
func (r revision) expected(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("expected-" + r.name + ".yml")
	if err != nil {
		t.Fatal(err)
	}
	var list struct{ Server []string }
	if err := yaml.Unmarshal(text, &list); err != nil {
		t.Fatal(err)
	}
	for _, check := range list.Server {
		if !strings.Contains(check, ":") {
			t.Errorf("%s names no check of the scenario", check)
		}
	}
	return list.Server
}

// required returns the scenarios that a server of the revision must pass, from
// the suite's own list.
func (r revision) required(t *testing.T, p programs) []string {
	t.Helper()
	text, err := os.ReadFile(p.script("@modelcontextprotocol/conformance/requirements/" + r.name + ".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var list struct{ Server []string }
	if err := yaml.Unmarshal(text, &list); err != nil {
		t.Fatal(err)
	}
	if len(list.Server) != r.scenarios {
		t.Fatalf("the suite requires %d scenarios for %s, not %d", len(list.Server), r.name, r.scenarios)
	}
	return list.Server
}

// outcome is the result of a run of the suite: the checks of each scenario.
type outcome struct {
	code   int
	checks map[string][]struct{ ID, Status, ErrorMessage string }
}

// failed returns the checks of a scenario that fail or warn, as scenario:check,
// each once. The suite counts warnings as failures.
func (o outcome) failed(scenario string) []string {
	var ids []string
	for _, c := range o.checks[scenario] {
		if c.Status == "FAILURE" || c.Status == "WARNING" {
			ids = append(ids, scenario+":"+c.ID)
		}
	}
	return slices.Compact(sorted(ids))
}

func sorted(list []string) []string { return slices.Sorted(slices.Values(list)) }

// stamp is the suffix that the suite adds to the name of a scenario.
var stamp = regexp.MustCompile(`^server-(.+)-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d+Z$`)

// suite runs the conformance suite.
func suite(t *testing.T, p programs, url string, args ...string) (o outcome, text string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "results")
	args = slices.Concat([]string{p.script("@modelcontextprotocol/conformance/dist/index.js"), "server", "--url", url, "--output-dir", dir}, args)
	out, errs, code := p.node(t, args...)
	o = outcome{code: code, checks: map[string][]struct{ ID, Status, ErrorMessage string }{}}
	files, err := filepath.Glob(filepath.Join(dir, "*", "checks.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("the suite left no results: %v\n%s%s", err, out, errs)
	}
	for _, file := range files {
		name := stamp.FindStringSubmatch(filepath.Base(filepath.Dir(file)))
		if name == nil || o.checks[name[1]] != nil {
			t.Fatalf("the results of %s are of no scenario, or of one that ran before", file)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var checks []struct{ ID, Status, ErrorMessage string }
		if err := json.Unmarshal(text, &checks); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		o.checks[name[1]] = checks
	}
	return o, out + errs
}

// recorder forwards requests unchanged, and records the names that they ask
// for.
type recorder struct {
	url string

	mu    sync.Mutex
	named map[string]bool
}

// newRecorder starts a recorder in front of a server, and stops it when the
// test ends. It adds the token, because the suite has no option for it.
func newRecorder(t *testing.T, to, token string) *recorder {
	t.Helper()
	target, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	r := &recorder{named: map[string]bool{}}
	proxy := &httputil.ReverseProxy{
		FlushInterval: -1,
		Rewrite: func(req *httputil.ProxyRequest) {
			req.Out.URL.Scheme, req.Out.URL.Host = target.Scheme, target.Host
			req.Out.Host = req.In.Host // a scenario tests this header
			if token != "" {
				req.Out.Header.Set("Authorization", "Bearer "+token)
			}
		},
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		r.keep(body)
		req.Body = io.NopCloser(bytes.NewReader(body))
		proxy.ServeHTTP(w, req)
	}))
	t.Cleanup(func() {
		server.CloseClientConnections() // streams that nobody reads any more
		server.Close()
	})
	r.url = server.URL + target.Path
	return r
}

// keep records what a message asks for.
func (r *recorder) keep(body []byte) {
	type named struct{ Name, URI string }
	var m struct {
		Params struct {
			named
			Ref named
		}
	}
	if json.Unmarshal(body, &m) != nil {
		return // a scenario may send anything
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, name := range []string{m.Params.Name, m.Params.URI, m.Params.Ref.Name, m.Params.Ref.URI} {
		r.named[name] = true
	}
}

// fixtures returns the requested tools, prompts and resources that only the
// fixture has. The suite gives all of them names of one form.
func (r *recorder) fixtures() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var names []string
	for name := range maps.Keys(r.named) {
		if strings.HasPrefix(name, "test_") || strings.HasPrefix(name, "test://") {
			names = append(names, name)
		}
	}
	return sorted(names)
}
