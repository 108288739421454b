package cli_test

import (
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestSetupNeverShowsTheToken: whatever ktx setup prints and writes, for every
// client and scope, from the first run to the removal, holds no token.
func TestSetupNeverShowsTheToken(t *testing.T) {
	t.Parallel()
	const single, named = "literal-single-token", "literal-token-of-a-principal"
	for scope, targets := range map[string]string{
		"project": "claude-code,cursor,codex,opencode,gemini,vscode,copilot,universal",
		"user":    "claude-code,claude-desktop,cursor,codex,opencode,gemini,vscode,copilot,windsurf,goose,universal",
		"local":   "claude-code",
	} {
		t.Run(scope, func(t *testing.T) {
			t.Parallel()
			home, dir := t.TempDir(), t.TempDir()
			config := "server: {tokens: [{name: me, token: 'env:PRINCIPAL'}]}\n"
			if err := os.WriteFile(filepath.Join(dir, "ktx.yaml"), []byte(config), 0o600); err != nil {
				t.Fatal(err)
			}
			setup := func(args ...string) string {
				cmd := exec.CommandContext(context.WithoutCancel(t.Context()), "ktx", append([]string{"setup", "--scope", scope}, args...)...)
				cmd.Dir = dir
				cmd.Env = []string{"HOME=" + home, "USERPROFILE=" + home, "PATH=" + os.Getenv("PATH"), "KTX_MCP_TOKEN=" + single, "PRINCIPAL=" + named}
				out, err := cmd.CombinedOutput()
				if err != nil {
					t.Fatalf("%v: %v\n%s", args, err, out)
				}
				return string(out)
			}
			shown := setup("--target", targets, "--dry-run", "--transport", "http") + setup("--target", targets, "--dry-run", "--json", "--transport", "http") +
				setup("--target", targets, "--yes", "--transport", "http")
			if !strings.Contains(shown, "KTX_MCP_TOKEN") {
				t.Errorf("no reference to the token:\n%s", shown)
			}
			written := 0
			for _, root := range []string{home, dir} {
				err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
					if err != nil || e.IsDir() {
						return err
					}
					text, err := os.ReadFile(path)
					shown += string(text)
					written++
					return err
				})
				if err != nil {
					t.Fatal(err)
				}
			}
			if least := 2 + len(strings.Split(targets, ",")); written < least {
				t.Errorf("%d files, want %d or more", written, least)
			}
			shown += setup("--target", targets, "--yes", "--json", "--transport", "stdio") + setup("--remove", "--dry-run") + setup("--remove", "--yes", "--json")
			if strings.Contains(shown, single) || strings.Contains(shown, named) {
				t.Errorf("a token is shown:\n%s", shown)
			}
		})
	}
}

// TestSetupFollowsTheServer: entries lead to where the server of the project is.
func TestSetupFollowsTheServer(t *testing.T) {
	t.Parallel()
	dir := shop(t)
	server := serverOf(t, dir)
	var plan struct {
		URL       string
		TokenAuth bool
	}
	if err := json.Unmarshal([]byte(want(t, dir, 0, "", "setup", "--target", "cursor", "--dry-run", "--json")), &plan); err != nil {
		t.Fatal(err)
	}
	if plan.URL != server.URL || plan.TokenAuth {
		t.Errorf("%+v, want %s", plan, server.URL)
	}
	out := want(t, dir, 0, "The MCP server of the project runs at "+server.URL, "setup", "--target", "cursor", "--yes")
	if strings.Contains(out, "ktx mcp start") {
		t.Errorf("it tells to start what runs:\n%s", out)
	}
	text, err := os.ReadFile(filepath.Join(dir, ".cursor", "mcp.json"))
	if err != nil || !strings.Contains(string(text), `"`+server.URL+`"`) {
		t.Errorf("%s %v", text, err)
	}
}
