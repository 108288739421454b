//go:build unix

package cli_test

import (
	"bytes"
	"cmp"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
)

// dialogue is ktx on a terminal of its own.
type dialogue struct {
	t    *testing.T
	cmd  *exec.Cmd
	tty  *os.File
	home string
	dir  string
	term string // the kind of terminal; dumb by default

	mu    sync.Mutex
	shown bytes.Buffer
	seen  int // how much of it was waited for
	ended chan struct{}
}

// terminal runs ktx setup on a terminal, in a fresh project with that ktx.yaml,
// for a user who has those folders.
func terminal(t *testing.T, config string, folders []string, args ...string) *dialogue {
	t.Helper()
	d := &dialogue{t: t, home: t.TempDir(), dir: t.TempDir()}
	for _, f := range folders {
		if err := os.MkdirAll(filepath.Join(d.home, f), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(d.dir, "ktx.yaml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	d.start(args...)
	return d
}

// start runs ktx setup.
func (d *dialogue) start(args ...string) {
	d.t.Helper()
	d.run(append([]string{"setup"}, args...)...)
}

// run runs ktx.
func (d *dialogue) run(args ...string) {
	t := d.t
	t.Helper()
	program, err := exec.LookPath("ktx")
	if err != nil {
		t.Fatal(err)
	}
	d.cmd = exec.Command(program, args...) //nolint:noctx // it is ended below, and waited for
	d.cmd.Dir = d.dir
	d.cmd.Env = []string{"HOME=" + d.home, "PATH=" + d.home, "NO_COLOR=1", "TERM=" + cmp.Or(d.term, "dumb")}
	if d.tty, err = pty.StartWithSize(d.cmd, &pty.Winsize{Rows: 200, Cols: 200}); err != nil {
		t.Fatal(err)
	}
	d.ended = make(chan struct{})
	go func() {
		defer close(d.ended)
		buf := make([]byte, 4096)
		for {
			n, err := d.tty.Read(buf)
			d.mu.Lock()
			d.shown.Write(buf[:n])
			d.mu.Unlock()
			if err != nil { // the system's way to say that the other end is closed
				return
			}
		}
	}()
	t.Cleanup(func() {
		_ = d.cmd.Process.Kill()
		_ = d.cmd.Wait()
		<-d.ended
		_ = d.tty.Close()
	})
}

// text is what was shown.
func (d *dialogue) text() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return strings.ReplaceAll(d.shown.String(), "\r\n", "\n")
}

// expect waits until something is shown behind what was waited for before.
func (d *dialogue) expect(want string) {
	d.t.Helper()
	for deadline := time.Now().Add(hang); ; time.Sleep(5 * time.Millisecond) {
		text := d.text()
		if i := strings.Index(text[d.seen:], want); i >= 0 {
			d.seen += i + len(want)
			return
		}
		if time.Now().After(deadline) {
			d.t.Fatalf("%q was not shown behind the first %d bytes of:\n%s", want, d.seen, text)
		}
	}
}

// answer waits for a question and answers it.
func (d *dialogue) answer(question, keys string) {
	d.t.Helper()
	d.expect(question)
	d.press(keys)
}

// press types keys.
func (d *dialogue) press(keys string) {
	d.t.Helper()
	if _, err := d.tty.WriteString(keys); err != nil {
		d.t.Fatal(err)
	}
}

// interruptUntil presses Ctrl-C until something is shown: what runs may not have begun.
func (d *dialogue) interruptUntil(want string) {
	d.t.Helper()
	for deadline := time.Now().Add(hang); !strings.Contains(d.text()[d.seen:], want); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			d.t.Fatalf("%q was not shown:\n%s", want, d.text())
		}
		d.press(ctrlC)
	}
	d.expect(want)
}

// ends waits for the end, and wants an exit code.
func (d *dialogue) ends(code int) {
	d.t.Helper()
	err := d.cmd.Wait()
	got := 0
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		got = exit.ExitCode()
	} else if err != nil {
		d.t.Fatal(err)
	}
	<-d.ended
	if got != code {
		d.t.Errorf("exit code %d, want %d:\n%s", got, code, d.text())
	}
}

// files are those that the run made, in the project and for the user.
func (d *dialogue) files() string {
	d.t.Helper()
	var out []string
	for _, root := range []string{d.dir, d.home} {
		err := filepath.WalkDir(root, func(path string, e os.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			rel, err := filepath.Rel(root, path)
			if rel != "ktx.yaml" && !strings.HasPrefix(rel, ".ktx") {
				out = append(out, rel)
			}
			return err
		})
		if err != nil {
			d.t.Fatal(err)
		}
	}
	return strings.Join(out, " ")
}

func (d *dialogue) holds(name, want string) {
	d.t.Helper()
	text, err := os.ReadFile(filepath.Join(d.dir, name))
	if err != nil {
		d.t.Fatal(err)
	}
	if !strings.Contains(string(text), want) {
		d.t.Errorf("%s lacks %s:\n%s", name, want, text)
	}
}

const withToken = "server: {tokens: [{name: me, token: 'env:SECRET'}]}\n"

// TestSetupAsks: on a terminal ktx setup offers the clients that are there, asks
// again for what it does not understand, and writes what it has shown.
func TestSetupAsks(t *testing.T) {
	t.Parallel()
	d := terminal(t, "{}\n", []string{".claude", ".gemini"}, "--transport", "http")
	d.expect("1  claude-code     Claude Code         found here\n")
	d.expect("6  gemini          Gemini CLI          found here\n")
	d.answer("[claude-code,gemini]:", "claude-cod\n")
	d.expect("did you mean claude-code?")
	d.answer("[claude-code,gemini]:", "0\n")
	d.expect(`unknown client "0"`)
	d.answer("[claude-code,gemini]:", "1, 4 gemini,1\n")
	d.answer("claude-code: scope project, user, local? [project]", "users\n")
	d.expect("did you mean user?")
	d.answer("claude-code: scope", "user\n")
	d.answer("codex: scope project, user? [project]", "\n")
	d.answer("gemini: scope project, user? [project]", "\n")
	d.expect("add        mcpServers.ktx in .gemini/settings.json")
	d.expect("+[mcp_servers.ktx]")
	d.answer("Write this? [y/N]", "maybe\n")
	d.expect("please answer y or n")
	if got := d.files(); got != "" {
		t.Errorf("written before the answer: %s", got)
	}
	d.answer("Write this? [y/N]", "y\n")
	d.expect("Run `ktx mcp start` to enable the configured KTX MCP server.")
	d.ends(0)
	want := ".agents/skills/ktx-analytics/SKILL.md .codex/config.toml .gemini/settings.json .claude/skills/ktx-analytics/SKILL.md .claude.json"
	if got := d.files(); got != want {
		t.Errorf("files: %s, want %s", got, want)
	}
}

// TestSetupAsksForSharedFiles: with a token, a file that may be committed gets
// the reference or is left out, as the user says.
func TestSetupAsksForSharedFiles(t *testing.T) {
	t.Parallel()
	d := terminal(t, withToken, nil, "--transport", "http", "--target", "claude-code,gemini,codex", "--scope", "project")
	d.answer("Write the reference Bearer ${KTX_MCP_TOKEN}? No leaves the client out. [Y/n]", "\n")
	d.answer("Write the reference Bearer $KTX_MCP_TOKEN? No leaves the client out. [Y/n]", "n\n")
	d.answer("Write the reference KTX_MCP_TOKEN? No leaves the client out. [Y/n]", "y\n")
	d.answer("Write this? [y/N]", "yes\n")
	d.ends(0)
	d.holds(".mcp.json", `"Bearer ${KTX_MCP_TOKEN}"`)
	d.holds(".codex/config.toml", `bearer_token_env_var = "KTX_MCP_TOKEN"`)
	if strings.Contains(d.files(), "gemini") {
		t.Errorf("files: %s", d.files())
	}
}

// TestSetupAsksForWhatIsMissing: the scope of the flags leaves the clients that
// have it, and with nobody found there is no default.
func TestSetupAsksForWhatIsMissing(t *testing.T) {
	t.Parallel()
	d := terminal(t, "{}\n", nil, "--scope", "local")
	d.answer("with commas between:", "\n")
	d.expect("please name at least one")
	d.answer("with commas between:", "2\n")
	d.expect(`unknown client "2"`)
	d.answer("with commas between:", "1\n")
	d.answer("Write this? [y/N]", "y\n")
	d.ends(0)
	if got := d.files(); got != ".claude.json" {
		t.Errorf("files: %s", got)
	}
	if strings.Contains(d.text(), "codex") {
		t.Errorf("a client without the scope is offered:\n%s", d.text())
	}
	again := &dialogue{t: t, home: d.home, dir: d.dir}
	again.start("--target", "claude-code", "--scope", "local")
	again.expect("unchanged  projects.")
	again.ends(0)
	if strings.Contains(again.text(), "Write this?") {
		t.Errorf("asked for nothing:\n%s", again.text())
	}
}

// TestSetupIsLeft: no, an end of the input and an interrupt, at each question,
// leave nothing written.
func TestSetupIsLeft(t *testing.T) {
	t.Parallel()
	questions := []struct{ text, answer string }{
		{"with commas between [claude-code]:", "\n"},
		{"scope project, user, local? [project]", "\n"},
		{"Write the reference", "\n"},
		{"Write this? [y/N]", "\n"},
	}
	for _, way := range []struct {
		name, keys, said string
		code             int
	}{
		{"end", "\x04", "the input ended; nothing was changed", 3},
		{"interrupt", "\x03", "cancelled", 3},
	} {
		for at := range questions {
			t.Run(way.name+" at "+questions[at].text, func(t *testing.T) {
				t.Parallel()
				d := terminal(t, withToken, []string{".claude"}, "--transport", "http")
				for _, q := range questions[:at] {
					d.answer(q.text, q.answer)
				}
				d.answer(questions[at].text, way.keys)
				d.expect(way.said)
				d.ends(way.code)
				if got := d.files(); got != "" {
					t.Errorf("written: %s", got)
				}
			})
		}
	}
	d := terminal(t, withToken, nil, "--target", "vscode", "--scope", "project", "--transport", "http")
	d.answer("Write the reference", "n\n")
	d.expect("nothing was changed")
	d.ends(0)
	d = terminal(t, "{}\n", nil, "--target", "vscode", "--scope", "project")
	d.answer("Write this? [y/N]", "\n")
	d.expect("nothing was changed")
	d.ends(0)
	if got := d.files(); got != "" {
		t.Errorf("written: %s", got)
	}
}

// TestSetupShowsNoEndlessLines: a client that keeps all on one line, with what a
// terminal acts upon, is shown cut and escaped, and edited as it is.
func TestSetupShowsNoEndlessLines(t *testing.T) {
	t.Parallel()
	d := terminal(t, "{}\n", []string{".gemini"}, "--target", "gemini", "--transport", "http")
	d.expect("gemini: scope project, user? [project]")
	settings := filepath.Join(d.home, ".gemini", "settings.json")
	line := `{"a": "` + strings.Repeat("long ", 10_000) + "\u202e" + `", "mcpServers": {}}`
	if err := os.WriteFile(settings, []byte(line), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := d.tty.WriteString("user\n"); err != nil {
		t.Fatal(err)
	}
	d.expect("…")
	d.answer("Write this? [y/N]", "y\n")
	d.ends(0)
	for shown := range strings.SplitSeq(d.text(), "\n") {
		if len(shown) > 500 || strings.Contains(shown, "\u202e") {
			t.Errorf("shown: %.500q", shown)
		}
	}
	text, err := os.ReadFile(settings)
	if err != nil || !strings.Contains(string(text), "\u202e") || !strings.Contains(string(text), "127.0.0.1:7878") {
		t.Errorf("%.100q %v", text, err)
	}
}

// TestSetupAsksBeforeItRemoves: --remove shows what goes, and asks.
func TestSetupAsksBeforeItRemoves(t *testing.T) {
	t.Parallel()
	d := terminal(t, "{}\n", nil, "--target", "cursor,vscode", "--scope", "project")
	d.answer("Write this? [y/N]", "y\n")
	d.ends(0)
	before := d.files()
	for _, round := range []struct{ keys, files string }{{"n\n", before}, {"y\n", ""}} {
		again := &dialogue{t: t, home: d.home, dir: d.dir}
		again.start("--remove")
		again.expect("-        \"stdio\",")
		again.answer("Remove this? [y/N]", round.keys)
		again.ends(0)
		if got := again.files(); got != round.files {
			t.Errorf("files: %s, want %s", got, round.files)
		}
	}
	again := &dialogue{t: t, home: d.home, dir: d.dir}
	again.start("--remove")
	again.expect("there is nothing to remove")
	again.ends(0)
}
