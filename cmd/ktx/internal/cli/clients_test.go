package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestClients has clients that others wrote read what ktx setup writes, with
// homes of their own and no account, and connect to the server of a project.
// Their packages are those of tools/clients.
func TestClients(t *testing.T) {
	tools := os.Getenv("KTX_TEST_CLIENTS")
	if tools == "" {
		t.Skip("KTX_TEST_CLIENTS is not set; make conformance sets it")
	}
	t.Setenv("KTX_MCP_TOKEN", "") // comes back with the end of the test
	if err := os.Unsetenv("KTX_MCP_TOKEN"); err != nil {
		t.Fatal(err)
	}
	const token = "a-token-of-the-test"
	servers := clientServers{open: shop(t), closed: shop(t), token: token}
	servers.openURL = serverOf(t, servers.open).URL
	servers.closedURL = serverOf(t, servers.closed, "--token", token).URL
	for _, c := range []mcpClient{claudeCode(t, tools), gemini(tools), opencode(t, tools), codex(tools), copilot(t, tools), cline(t, tools)} {
		for _, scope := range c.scopes {
			t.Run(c.name+" "+scope, func(t *testing.T) { servers.check(t, c, scope) })
			t.Run(c.name+" "+scope+" stdio", func(t *testing.T) { servers.checkStart(t, c, scope) })
		}
	}
	t.Run("claude-code local elsewhere", func(t *testing.T) { servers.foldersOfClaude(t, claudeCode(t, tools)) })
}

// clientServers are the servers of two projects, one of which wants a token.
type clientServers struct {
	open, openURL     string
	closed, closedURL string
	token             string
}

// mcpClient is a client and how to ask it for the servers that it knows.
type mcpClient struct {
	name    string // as ktx setup has it
	program []string
	scopes  []string
	list    []string // arguments
	// connected, refused and held are what it prints of ktx that it reached, that
	// refused it, and that nobody approved, as patterns. URL stands for the
	// address.
	connected, refused, held string
	// started is what it prints of ktx that it starts, as a pattern. PROGRAM stands for
	// the program.
	started string
	// approve does what people do in the client before it uses what stands in
	// that scope, and returns variables for it.
	approve func(t *testing.T, home, project, scope string) []string
	// heldIn lists the scopes that wait for that.
	heldIn []string
	// offline says that listing asks no server.
	offline bool
	// reference is what an offline client prints of the token, as a pattern. It is ""
	// if its settings cannot refer to one.
	reference string
}

func claudeCode(t *testing.T, tools string) mcpClient {
	t.Helper()
	return mcpClient{
		name: "claude-code", program: installed(t, tools, "@anthropic-ai/claude-code-*/claude"), scopes: []string{"project", "user", "local"},
		list:      []string{"mcp", "list"},
		connected: `(?m)^ktx: URL \(HTTP\) - ✔ Connected$`,
		refused:   `(?m)^ktx: URL \(HTTP\) - ✘ Failed to connect$`,
		held:      `(?m)^ktx: URL \(HTTP\) - ⏸ Pending approval`,
		started:   `(?m)^ktx: PROGRAM mcp stdio.* - ✔ Connected$`,
		heldIn:    []string{"project"},
		approve: func(t *testing.T, home, _, _ string) []string {
			t.Helper()
			put(t, filepath.Join(home, ".claude", "settings.json"), `{"enableAllProjectMcpServers": true}`)
			return nil
		},
	}
}

func gemini(tools string) mcpClient {
	return mcpClient{
		name: "gemini", program: []string{"node", filepath.Join(tools, "node_modules", "@google", "gemini-cli", "bundle", "gemini.js")}, scopes: []string{"project", "user"},
		list:      []string{"mcp", "list"},
		connected: `(?m)^✓ ktx: URL \(http\) - Connected$`,
		refused:   `(?m)^✗ ktx: URL \(http\) - Disconnected$`,
		held:      `(?m)^○ ktx: URL \(http\) - Disabled$`,
		started:   `(?m)^✓ ktx: PROGRAM mcp stdio.* \(stdio\) - Connected$`,
		heldIn:    []string{"project", "user"}, // it asks whether to trust the folder
		approve: func(t *testing.T, home, project, _ string) []string {
			t.Helper()
			text, err := json.Marshal(map[string]string{project: "TRUST_FOLDER"})
			if err != nil {
				t.Fatal(err)
			}
			put(t, filepath.Join(home, ".gemini", "trustedFolders.json"), string(text))
			return nil
		},
	}
}

func opencode(t *testing.T, tools string) mcpClient {
	t.Helper()
	return mcpClient{
		name: "opencode", program: installed(t, tools, "opencode-*/bin/opencode"), scopes: []string{"project", "user"},
		list:      []string{"mcp", "list"},
		connected: `✓ ktx connected\n[^\n]*URL\n`,
		refused:   `✗ ktx failed\n[^\n]*401[^\n]*\n[^\n]*URL\n`,
		started:   `✓ ktx connected\n[^\n]*PROGRAM mcp stdio`,
	}
}

func codex(tools string) mcpClient {
	return mcpClient{
		name: "codex", program: []string{"node", filepath.Join(tools, "node_modules", "@openai", "codex", "bin", "codex.js")}, scopes: []string{"project", "user"},
		list:      []string{"mcp", "get", "ktx", "--json"},
		connected: `(?s)"enabled": true,.*"type": "streamable_http",\s+"url": "URL",`,
		held:      `No MCP server named 'ktx' found`,
		started:   `(?s)"enabled": true,.*"type": "stdio",\s+"command": "PROGRAM",\s+"args": \[\s+"mcp",\s+"stdio".*"env_vars": \[\s+"FAR_AWAY"`,
		reference: `"bearer_token_env_var": "KTX_MCP_TOKEN"`,
		heldIn:    []string{"project"}, // it asks whether to trust the folder
		approve: func(t *testing.T, home, project, scope string) []string {
			t.Helper()
			if scope == "project" {
				put(t, filepath.Join(home, ".codex", "config.toml"), fmt.Sprintf("[projects.%s]\ntrust_level = \"trusted\"\n", strconv.Quote(project)))
			}
			return nil
		},
		offline: true,
	}
}

func copilot(t *testing.T, tools string) mcpClient {
	t.Helper()
	return mcpClient{
		name: "copilot", program: installed(t, tools, "@github/copilot-linux-*/copilot"), scopes: []string{"project", "user"},
		list:      []string{"mcp", "list", "--json"},
		connected: `"type": "http",\s+"url": "URL",`,
		held:      `(?s)^.*"mcpServers": \{\}`,
		heldIn:    []string{"project"}, // it asks whether to trust the folder
		started:   `(?s)"type": "stdio",\s+"command": "PROGRAM",\s+"args": \[\s+"mcp",\s+"stdio".*"FAR_AWAY": "\$\{FAR_AWAY\}"`,
		reference: `"Authorization": "Bearer \$\{KTX_MCP_TOKEN\}"`,
		approve: func(t *testing.T, home, project, scope string) []string {
			t.Helper()
			text, err := json.Marshal(map[string][]string{"trusted_folders": {project}})
			if err != nil {
				t.Fatal(err)
			}
			if scope == "project" {
				put(t, filepath.Join(home, ".copilot", "config.json"), string(text))
			}
			return nil
		},
		offline: true,
	}
}

func cline(t *testing.T, tools string) mcpClient {
	t.Helper()
	return mcpClient{
		name: "cline", program: installed(t, tools, "@cline/cli-linux-*/bin/cline"), scopes: []string{"user"},
		list:      []string{"config", "mcp", "--json"},
		connected: `"name":"ktx","transportType":"streamableHttp","disabled":false`,
		started:   `"name":"ktx","transportType":"stdio","disabled":false`,
		offline:   true,
	}
}

// installed returns the program of a package for this machine. Where there are
// several, not all run on it.
func installed(t *testing.T, tools, pattern string) []string {
	t.Helper()
	programs, err := filepath.Glob(filepath.Join(tools, "node_modules", filepath.FromSlash(pattern)))
	if err != nil {
		t.Fatal(err)
	}
	for _, program := range programs {
		c := exec.CommandContext(t.Context(), program, "--version")
		c.Env = []string{"HOME=" + t.TempDir()}
		if c.Run() == nil {
			return []string{program}
		}
	}
	t.Fatalf("none of %q runs", programs)
	return nil
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// check lets the client read what is written for one scope, for the server that
// wants no token, and for the other one with the right token, a wrong one, and
// none.
func (s clientServers) check(t *testing.T, c mcpClient, scope string) {
	t.Helper()
	home := t.TempDir()
	written := s.setUp(t, c, scope, home, s.open)
	if strings.Contains(written, "KTX_MCP_TOKEN") {
		t.Errorf("a token is written where none is needed:\n%s", written)
	}
	if slices.Contains(c.heldIn, scope) {
		s.lists(t, c, home, s.open, s.openURL, c.held)
	}
	var approval []string
	if c.approve != nil {
		approval = c.approve(t, home, s.open, scope)
	}
	s.lists(t, c, home, s.open, s.openURL, c.connected, approval...)
	// By now the client has written to its files too.
	s.takeOut(t, home, s.open)
	if got := s.run(t, home, s.open, slices.Concat(c.program, c.list), approval...); strings.Contains(got, s.openURL) {
		t.Errorf("the entry is still known after --remove:\n%s", got)
	}

	if c.offline && c.reference == "" { // its settings cannot refer to a token
		return
	}
	home = t.TempDir()
	written = s.setUp(t, c, scope, home, s.closed)
	if !strings.Contains(written, "KTX_MCP_TOKEN") || strings.Contains(written, s.token) {
		t.Errorf("the token is not named, or written:\n%s", written)
	}
	if c.approve != nil {
		approval = c.approve(t, home, s.closed, scope)
	}
	before := s.denied(t)
	got := s.lists(t, c, home, s.closed, s.closedURL, c.connected, append(approval, "KTX_MCP_TOKEN="+s.token)...)
	if c.offline {
		if !regexp.MustCompile(c.reference).MatchString(got) {
			t.Errorf("the variable is not known:\n%s", got)
		}
		return
	}
	if after := s.denied(t); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("refused with the right token: %v, before %v", after, before)
	}
	s.lists(t, c, home, s.closed, s.closedURL, c.refused, append(approval, "KTX_MCP_TOKEN=not-"+s.token)...)
	wrong := s.denied(t)
	if wrong["wrong_token"] <= before["wrong_token"] {
		t.Errorf("a wrong token: %v, before %v", wrong, before)
	}
	s.lists(t, c, home, s.closed, s.closedURL, c.refused, approval...)
	if unset := s.denied(t); unset["placeholder"] <= wrong["placeholder"] {
		t.Errorf("no token: %v, before %v", unset, wrong)
	}
	// What a client sends that does not know the variable leads to its name.
	reference := regexp.MustCompile(`"(Bearer [^"]*KTX_MCP_TOKEN[^"]*)"`).FindStringSubmatch(written)
	if reference == nil {
		t.Fatalf("there is no header in what is written:\n%s", written)
	}
	asking := client{url: s.closedURL}
	if answer := asking.post(t, http.StatusUnauthorized, initialize, "Authorization", reference[1]); !strings.Contains(answer, "set the variable KTX_MCP_TOKEN") {
		t.Errorf("%s is answered with %s", reference[1], answer)
	}
}

// foldersOfClaude has Claude Code find the entry of the scope local, which stands
// under the name of the folder that it takes for the project. No server runs:
// the entry is listed all the same.
func (s clientServers) foldersOfClaude(t *testing.T, c mcpClient) {
	t.Helper()
	top := t.TempDir()
	repository, worktree, plain := filepath.Join(top, "répo \"1\""), filepath.Join(top, "second"), filepath.Join(top, "plain")
	for _, dir := range []string{repository, plain} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	home := t.TempDir()
	for _, arguments := range [][]string{
		{"init", "-q"},
		{"-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "--allow-empty", "-m", "x"},
		{"worktree", "add", "-q", worktree},
	} {
		s.run(t, home, repository, append([]string{"git"}, arguments...))
	}
	link := filepath.Join(top, "link")
	if err := os.Symlink(plain, link); err != nil {
		t.Fatal(err)
	}
	for _, project := range []string{filepath.Join(repository, "service"), filepath.Join(worktree, "service"), link} {
		if err := os.MkdirAll(project, 0o700); err != nil {
			t.Fatal(err)
		}
		put(t, filepath.Join(project, "ktx.yaml"), "connections: {a: {driver: sqlite, path: a.db}}\nserver: {port: 7999}\n")
		home := t.TempDir()
		s.setUp(t, c, "local", home, project)
		s.lists(t, c, home, project, "http://127.0.0.1:7999/mcp", `(?m)^ktx: URL \(HTTP\)`)
	}
}

// setUp has ktx write the entry, and take it away at the end of the test. It
// returns what the files of the client hold.
func (s clientServers) setUp(t *testing.T, c mcpClient, scope, home, project string) string {
	t.Helper()
	s.run(t, home, project, []string{"ktx", "setup", "--yes", "--transport", "http", "--target", c.name, "--scope", scope})
	t.Cleanup(func() { s.takeOut(t, home, project) })
	var all bytes.Buffer
	for _, name := range settings(home, project) {
		if text, err := os.ReadFile(name); err == nil {
			all.Write(text)
		}
	}
	return all.String()
}

// settings are the files that clients may keep their servers in.
func settings(home, project string) []string {
	var all []string
	for _, dir := range []string{home, project} {
		for _, name := range []string{
			".mcp.json", ".claude.json", ".gemini/settings.json", "opencode.json", ".config/opencode/opencode.json", ".codex/config.toml",
			".copilot/mcp-config.json", ".github/mcp.json", ".cline/data/settings/cline_mcp_settings.json",
		} {
			all = append(all, filepath.Join(dir, filepath.FromSlash(name)))
		}
	}
	return all
}

// checkStart lets the client read an entry that starts ktx, and start it, with the
// variable that ktx.yaml names. A script stands in its place, which writes down the
// variables that it gets and becomes ktx.
func (s clientServers) checkStart(t *testing.T, c mcpClient, scope string) {
	t.Helper()
	const config = "connections: {far: {driver: postgres, url: 'env:FAR_AWAY'}}\n"
	home, project, dir := t.TempDir(), t.TempDir(), t.TempDir()
	put(t, filepath.Join(project, "ktx.yaml"), config)
	ktx, err := exec.LookPath("ktx")
	if err != nil {
		t.Fatal(err)
	}
	script, seen := filepath.Join(dir, "recorded"), filepath.Join(dir, "seen")
	put(t, script, fmt.Sprintf("#!/bin/sh\nenv > '%s'\nexec '%s' \"$@\"\n", seen, ktx))
	if err := os.Chmod(script, 0o700); err != nil {
		t.Fatal(err)
	}
	s.run(t, home, project, []string{"ktx", "setup", "--yes", "--transport", "stdio", "--target", c.name, "--scope", scope})
	replaced := false
	for _, name := range settings(home, project) {
		text, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		own := `"` + ktx + `"`
		if scope == "project" {
			own = `"ktx"`
		}
		at := strings.LastIndex(string(text), own) // before it, the key of the entry may be the same
		if at < 0 {
			t.Errorf("%s does not name %s:\n%s", name, own, text)
			continue
		}
		replaced = true
		put(t, name, string(text[:at])+`"`+script+`"`+string(text[at+len(own):]))
	}
	if !replaced {
		t.Error("no settings were written")
	}
	variables := []string{"FAR_AWAY=postgres://reader@127.0.0.1:1/shop"}
	if c.approve != nil {
		variables = append(variables, c.approve(t, home, project, scope)...)
	}
	s.lists(t, c, home, project, "", strings.ReplaceAll(c.started, "PROGRAM", regexp.QuoteMeta(script)), variables...)
	if c.offline {
		return
	}
	got, err := os.ReadFile(seen)
	if err != nil || !strings.Contains(string(got), variables[0]+"\n") {
		t.Errorf("ktx is started without the variable of its configuration: %v\n%s", err, got)
	}
}

// takeOut has ktx take out all that it wrote.
func (s clientServers) takeOut(t *testing.T, home, project string) {
	t.Helper()
	s.run(t, home, project, []string{"ktx", "setup", "--yes", "--remove"})
}

// run runs a program in a project as a user with that home.
func (s clientServers) run(t *testing.T, home, project string, program []string, variables ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 3*time.Minute)
	defer cancel()
	path, err := exec.LookPath(program[0])
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, path, program[1:]...)
	cmd.Dir = project
	cmd.Env = append([]string{"PWD=" + project, "HOME=" + home, "PATH=" + os.Getenv("PATH"), "TERM=dumb", "NO_COLOR=1"}, variables...)
	cmd.WaitDelay = 10 * time.Second
	out, err := cmd.CombinedOutput()
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
		t.Fatalf("%q: %v\n%s", program, err, out)
	}
	return regexp.MustCompile("\x1b\\[[0-9;]*m").ReplaceAllString(string(out), "")
}

// lists asks the client for its servers and wants what it says of ktx.
func (s clientServers) lists(t *testing.T, c mcpClient, home, project, url, pattern string, variables ...string) string {
	t.Helper()
	out := s.run(t, home, project, slices.Concat(c.program, c.list), variables...)
	pattern = strings.ReplaceAll(pattern, "URL", regexp.QuoteMeta(url))
	if !regexp.MustCompile(pattern).MatchString(out) {
		t.Errorf("%s says, where %s is wanted:\n%s", c.name, pattern, out)
	}
	return out
}

// denied returns how many requests the server that wants a token refused, by
// the reason.
func (s clientServers) denied(t *testing.T) map[string]int {
	t.Helper()
	asking := client{url: strings.TrimSuffix(s.closedURL, "/mcp") + "/metrics", token: s.token}
	status, text, err := asking.do(t.Context(), http.MethodGet, "")
	if err != nil || status != http.StatusOK {
		t.Fatalf("metrics: %d %v", status, err)
	}
	all := map[string]int{}
	for _, m := range regexp.MustCompile(`(?m)^ktx_http_denied_total\{reason="(\w+)"\} (\d+)$`).FindAllStringSubmatch(text, -1) {
		n, err := strconv.Atoi(m[2])
		if err != nil {
			t.Fatal(err)
		}
		all[m[1]] = n
	}
	return all
}
