package setup

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/cmd/ktx/internal/setup"
)

// setupJSON is the shape of ktx setup --json.
type setupJSON struct {
	Schema     string      `json:"schema"`
	ProjectDir string      `json:"projectDir"`
	Transport  string      `json:"transport,omitempty"`
	URL        string      `json:"url,omitempty"`
	Header     string      `json:"header,omitempty"`
	Command    []string    `json:"command,omitempty"`
	TokenAuth  bool        `json:"tokenAuth"`
	DryRun     bool        `json:"dryRun"`
	Remove     bool        `json:"remove"`
	Steps      []setupStep `json:"steps"`
	Files      []setupFile `json:"files"`
	Warnings   []string    `json:"warnings"`
	Notes      []string    `json:"notes"`
}

type setupStep struct {
	Target string   `json:"target"`
	Scope  string   `json:"scope"`
	Kind   string   `json:"kind"`
	Path   string   `json:"path"`
	Key    []string `json:"key,omitempty"`
	Action string   `json:"action"`
	Reason string   `json:"reason,omitempty"`
}

type setupFile struct {
	Path   string `json:"path"`
	Action string `json:"action"` // create, change or delete
	Diff   string `json:"diff"`
}

func (s *run) json(files []setup.FileChange) setupJSON {
	out := setupJSON{
		Schema: "ktx-setup/1", ProjectDir: s.project.Dir, URL: s.server.URL, Header: s.header(), TokenAuth: s.server.Token,
		DryRun: s.options.dryRun, Remove: s.options.remove,
		Steps: []setupStep{}, Files: []setupFile{},
		Warnings: append([]string{}, s.warnings...), Notes: append([]string{}, s.notes...),
	}
	switch {
	case s.options.remove:
	case s.server.Stdio:
		out.Transport, out.URL, out.Command = "stdio", "", s.command()
	default:
		out.Transport = "http"
	}
	for _, step := range s.plan.Steps {
		out.Steps = append(out.Steps, setupStep{
			step.Target, string(step.Scope), string(step.Kind), step.Path, step.Key, string(step.Action), step.Reason,
		})
	}
	for _, f := range files {
		action := "change"
		switch {
		case f.Before == nil:
			action = "create"
		case f.After == nil:
			action = "delete"
		}
		out.Files = append(out.Files, setupFile{f.Path, action, string(f.Diff())})
	}
	return out
}

// command is how a client starts ktx for the project.
func (s *run) command() []string {
	return append(slices.Clone(s.server.Command), "mcp", "stdio", "--project-dir", s.project.Dir)
}

// printSteps prints the action for each entry and each skill file.
func (s *run) printSteps(w *console.Stream) {
	a := s.app
	if len(s.plan.Steps) == 0 && s.options.remove {
		_, _ = fmt.Fprintln(w, "there is nothing to remove")
	}
	last := ""
	for _, step := range s.plan.Steps {
		if head := fmt.Sprintf("%s (%s)", step.Target, step.Scope); head != last {
			_, _ = fmt.Fprintln(w, a.Paint(w, console.StyleBold, console.EscapeControls(head)))
			last = head
		}
		what := console.DisplayPath(step.Path)
		if len(step.Key) > 0 {
			what = strings.Join(step.Key, ".") + " in " + what
		}
		line := fmt.Sprintf("  %-10s %s", step.Action, what)
		switch {
		case step.Action == setup.Refused:
			line = fmt.Sprintf("  %-10s %s", a.Paint(w, console.StyleRed, string(step.Action)), console.EscapeControls(step.Reason))
		case step.Reason != "":
			line = console.EscapeControls(line + ": " + step.Reason)
		default:
			line = console.EscapeControls(line)
		}
		_, _ = fmt.Fprintln(w, line)
	}
	if s.plan.Refused() {
		_, _ = fmt.Fprintln(w, "ktx setup writes nothing for a client when it refuses one of the client's files")
	}
}

// printDiff prints the diff of the files. On a terminal it escapes control
// characters, and it cuts long lines, because some clients write all their settings
// on one line. Elsewhere it prints the exact bytes.
func (s *run) printDiff(w *console.Stream, files []setup.FileChange) {
	for _, f := range files {
		text := string(f.Diff())
		if w.Terminal {
			lines := strings.Split(console.EscapeLines(text), "\n")
			for i, line := range lines {
				lines[i] = console.Shorten(line, 2*console.MaxCell)
			}
			text = strings.Join(lines, "\n")
		}
		_, _ = fmt.Fprint(w, text)
	}
}

func (s *run) printNotes(w *console.Stream) {
	for _, n := range s.warnings {
		_, _ = fmt.Fprintf(w, "%s: %s\n", s.app.Paint(w, console.StyleYellow, "warning"), console.EscapeControls(n))
	}
	for _, n := range s.notes {
		_, _ = fmt.Fprintf(w, "note: %s\n", console.EscapeControls(n))
	}
}

// printNext prints what the user has to do next.
func (s *run) printNext() {
	a := s.app
	switch {
	case s.byHand == nil:
	case s.server.Stdio:
		a.Printf("command for %s: %s\n", s.byHand.Title, console.EscapeControls(shellWords(s.command())))
	default:
		a.Printf("address for %s: %s\n", s.byHand.Title, console.EscapeControls(s.server.URL))
		if h := s.header(); h != "" {
			a.Printf("header: %s\n", h)
		}
	}
	switch {
	case s.options.remove:
	case s.started:
		a.Printf("The clients start ktx themselves.\n")
	case s.running:
		a.Printf("The MCP server of the project runs at %s.\n", console.EscapeControls(s.server.URL))
	default:
		a.Printf("Run `ktx mcp start` to enable the configured KTX MCP server.\n")
	}
}

// shellWords writes a command as people type it into a shell.
func shellWords(words []string) string {
	var out []string
	for _, w := range words {
		if strings.ContainsAny(w, " \t'\"\\$`&|;<>()*?[]#~!{}") {
			w = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
		out = append(out, w)
	}
	return strings.Join(out, " ")
}
