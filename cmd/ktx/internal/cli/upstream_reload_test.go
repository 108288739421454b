package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// tool is a request of a tool.
func tool(id int, name, arguments string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, id, name, arguments)
}

// asking calls tools of a running server, each with the next id.
type asking struct {
	*process

	id int
}

func (a *asking) ask(t *testing.T, name, arguments string) string {
	t.Helper()
	a.id++
	a.send(t, tool(a.id, name, arguments))
	return fmt.Sprint(a.answer(t, float64(a.id))["result"])
}

// becomes waits until a call is answered with a text.
func (a *asking) becomes(t *testing.T, want, name, arguments string) {
	t.Helper()
	last := ""
	defer func() {
		if t.Failed() {
			t.Logf("%s is answered with %s, not with %s", name, last, want)
		}
	}()
	waitFor(t, func() bool {
		last = a.ask(t, name, arguments)
		return strings.Contains(last, want)
	})
}

// TestUpstreamsReload changes the servers of a running ktx: in ktx.yaml, in a file that it
// imports, and with a signal.
func TestUpstreamsReload(t *testing.T) {
	dir := t.TempDir()
	clients := filepath.Join(dir, "clients.json")
	put(t, clients, `{"mcpServers": {"imported": {"command": "misbehaving"}}}`)
	block := func(rules string) string {
		return "upstreams:\n  import: [clients.json]\n  servers: {notes: {command: misbehaving}}\n  rules: [" + rules + "]\n"
	}
	configure(t, dir, block("{match: [echo], enabled: false}"))
	a := &asking{run(t, dir, "mcp", "stdio"), 100}
	a.send(t, initialize, ready)
	echo := func(server string) string {
		return fmt.Sprintf(`{"server": %q, "tool": "echo", "arguments": {"text": "hello"}}`, server)
	}
	if got := a.ask(t, "tool_call", echo("notes")); !strings.Contains(got, "TOOL_DISABLED") {
		t.Errorf("answered %s", got)
	}
	// The file alone is enough.
	configure(t, dir, block("{match: [nothing], tags: [x]}"))
	a.becomes(t, "hello", "tool_call", echo("notes"))
	put(t, clients, `{"mcpServers": {"renamed": {"command": "misbehaving"}}}`)
	a.becomes(t, "hello", "tool_call", echo("renamed"))
	if got := a.ask(t, "tool_call", echo("imported")); !strings.Contains(got, "SERVER_NOT_FOUND") {
		t.Errorf("a server that is gone: %s", got)
	}
	// A file that is not valid changes nothing.
	configure(t, dir, block("{match: [\"/(/\"], enabled: false}"))
	hangUp(t, a.process, dir)
	if got := a.ask(t, "tool_call", echo("notes")); !strings.Contains(got, "hello") {
		t.Errorf("answered %s", got)
	}
	configure(t, dir, block("{match: [echo], enabled: false}"))
	a.signal(t, syscall.SIGHUP)
	a.becomes(t, "TOOL_DISABLED", "tool_call", echo("notes"))
	if err := a.in.Close(); err != nil {
		t.Fatal(err)
	}
	a.ends(t, 0)
}

// TestSkillsReload changes the skills of a running ktx with a signal.
func TestSkillsReload(t *testing.T) {
	dir := t.TempDir()
	skill := func(path, name, description string) {
		if err := os.MkdirAll(filepath.Join(dir, path, name), 0o700); err != nil {
			t.Fatal(err)
		}
		put(t, filepath.Join(dir, path, name, "SKILL.md"), "---\nname: "+name+"\ndescription: "+description+"\n---\n\nGo on.\n")
	}
	skill("skills", "close-books", "Closes the books.")
	skill("team", "bake-bread", "Bakes a loaf.")
	configure(t, dir, "skills: {}\n")
	a := &asking{run(t, dir, "mcp", "stdio"), 100}
	a.send(t, initialize, ready)
	const loaf = `{"query": "a loaf"}`
	if got := a.ask(t, "recommend_skills", loaf); strings.Contains(got, "bake-bread") {
		t.Errorf("answered %s", got)
	}
	configure(t, dir, "skills: {folders: [team], categories: {finance: Ask.}}\n")
	hangUp(t, a.process, dir)
	a.becomes(t, "bake-bread", "recommend_skills", loaf)
	// The embedding server is another setting; one that is gone costs no search.
	configure(t, dir, "skills: {folders: [team]}\nembeddings: {provider: ollama, url: \"http://127.0.0.1:1\"}\n")
	hangUp(t, a.process, dir)
	a.becomes(t, "searched by words only", "search_skills", loaf)
	if got := a.ask(t, "recommend_skills", loaf); !strings.Contains(got, "bake-bread") {
		t.Errorf("answered %s", got)
	}
	// Without the key the tools stay listed, and find nothing.
	configure(t, dir, "search: {}\n")
	hangUp(t, a.process, dir)
	a.becomes(t, "count:0", "search_skills", `{}`)
	// A changed file needs no signal.
	configure(t, dir, "skills: {}\n")
	hangUp(t, a.process, dir)
	a.becomes(t, "close-books", "search_skills", `{}`)
	skill("skills", "brew-tea", "Brews tea.")
	a.becomes(t, "brew-tea", "search_skills", `{}`)
	if err := a.in.Close(); err != nil {
		t.Fatal(err)
	}
	a.ends(t, 0)
	if !strings.Contains(a.stderr.String(), "the block skills is gone") {
		t.Errorf("standard error: %s", a.stderr)
	}
}

// TestNewBlocksNeedARestart adds the blocks that bring tools while ktx runs. Clients know
// the list of tools, so it stays, and standard error says so.
func TestNewBlocksNeedARestart(t *testing.T) {
	dir := t.TempDir()
	configure(t, dir, "search: {}\n")
	a := &asking{run(t, dir, "mcp", "stdio"), 100}
	a.send(t, initialize, ready)
	a.ask(t, "connection_list", "{}")
	configure(t, dir, "skills: {}\nupstreams: {servers: {notes: {command: misbehaving}}}\n")
	hangUp(t, a.process, dir)
	hangUp(t, a.process, dir) // the first reload is done when the second begins
	if err := a.in.Close(); err != nil {
		t.Fatal(err)
	}
	a.ends(t, 0)
	for _, block := range []string{"skills", "upstreams"} {
		if want := "the block " + block + " is new, which takes effect at the next start"; !strings.Contains(a.stderr.String(), want) {
			t.Errorf("%q is not in standard error: %s", want, a.stderr)
		}
	}
}
