package ktx_test

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/execution/executiontest/executable"
)

// commandLine runs the ktx binary of the tests.
type commandLine struct {
	dir  string // the folder of the binary
	tree map[string]*command
}

func TestMain(m *testing.M) { os.Exit(executable.Run(m.Run)) }

// newCommandLine returns a commandLine with ktx from the build that the tests run in.
func newCommandLine(t *testing.T) *commandLine {
	t.Helper()
	return &commandLine{dir: filepath.Dir(executable.KTX(t)), tree: map[string]*command{}}
}

// shell runs one line in a folder, with ktx in PATH, and returns the output and the
// exit code.
func (c *commandLine) shell(t *testing.T, dir, line string) (string, int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", line)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+c.dir+string(os.PathListSeparator)+os.Getenv("PATH"), "NO_COLOR=1", "LC_ALL=C.UTF-8")
	out, err := cmd.CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return string(out), exit.ExitCode()
	}
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return string(out), 0
}

// json runs a command that prints JSON and reads it into v.
func (c *commandLine) json(t *testing.T, line string, v any) {
	t.Helper()
	out, code := c.shell(t, t.TempDir(), line)
	if code != 0 {
		t.Fatalf("%s: exit code %d\n%s", line, code, out)
	}
	if err := json.Unmarshal([]byte(out), v); err != nil {
		t.Fatalf("%s: %v\n%s", line, err, out)
	}
}

// command is the content of one command's help.
type command struct {
	children map[string]bool
	runs     bool            // the command does something without a subcommand
	operands bool            // the command takes arguments that are not flags
	flags    map[string]bool // names with dashes; true when a value follows
}

var (
	usageLine = regexp.MustCompile(`(?m)^  ktx((?: [a-z]+)*)((?: [^ \n].*)?)$`)
	flagLine  = regexp.MustCompile(`^ +(?:(-\w), )?(--[\w-]+)( [\w=]+)?(\[=[^\]]*\])?(?:  |$)`)
	childLine = regexp.MustCompile(`^  ([a-z]+) +\S`)
)

// help reads the help of a command, given without "ktx".
func (c *commandLine) help(t *testing.T, words string) *command {
	t.Helper()
	if known, ok := c.tree[words]; ok {
		return known
	}
	out, code := c.shell(t, t.TempDir(), "ktx help "+words)
	if code != 0 {
		t.Fatalf("ktx help %s: exit code %d\n%s", words, code, out)
	}
	cmd := &command{children: map[string]bool{}, flags: map[string]bool{}}
	part := ""
	for line := range strings.Lines(out) {
		line = strings.TrimRight(line, "\n")
		if line != "" && line[0] != ' ' {
			part = line
			continue
		}
		switch part {
		case "Usage:":
			if m := usageLine.FindStringSubmatch(line); m != nil && !strings.Contains(m[2], "[command]") {
				cmd.runs = true
				cmd.operands = strings.TrimSpace(strings.TrimSuffix(m[2], "[flags]")) != ""
			}
		case "Available Commands:":
			if m := childLine.FindStringSubmatch(line); m != nil {
				cmd.children[m[1]] = true
			}
		case "Flags:", "Global Flags:":
			m := flagLine.FindStringSubmatch(line)
			if m == nil {
				continue
			}
			for _, name := range m[1:3] {
				if _, known := cmd.flags[name]; name != "" && !known {
					cmd.flags[name] = m[3] != "" && m[4] == "" // [=value] follows only after =
				}
			}
		}
	}
	c.tree[words] = cmd
	return cmd
}

// fault says what is wrong with a command line of ktx; "" when nothing is.
func (c *commandLine) fault(t *testing.T, line string) string {
	t.Helper()
	words := shellWords(line)[1:]
	path := ""
	cmd := c.help(t, path)
	operands := 0
	for i := 0; i < len(words); i++ {
		word := words[i]
		switch {
		case strings.HasPrefix(word, "-") && len(word) > 1:
			name, _, given := strings.Cut(word, "=")
			value, known := cmd.flags[name]
			if !known {
				return "no flag " + name
			}
			if value && !given {
				i++
			}
		case operands == 0 && cmd.children[word]:
			path = strings.TrimSpace(path + " " + word)
			cmd = c.help(t, path)
		case !cmd.operands:
			return word + " is not a command, and no argument is expected"
		default:
			operands++
		}
	}
	return ""
}

var commandStart = regexp.MustCompile(`(?:^|[|;&(] *)(ktx|go)(?: |$)`)

// commands returns the command lines of a program in the code of a document.
func (d document) commands(program string) []span {
	var all []span
	for _, s := range d.code() {
		for _, m := range commandStart.FindAllStringSubmatchIndex(s.text, -1) {
			if s.text[m[2]:m[3]] == program {
				all = append(all, span{strings.Join(quoted(shellWords(s.text[m[2]:])), " "), s.line})
			}
		}
	}
	return all
}

// quoted puts single quotes around the words that need them.
func quoted(words []string) []string {
	for i, w := range words {
		if w == "" || strings.ContainsAny(w, " |;&#<>") {
			words[i] = "'" + w + "'"
		}
	}
	return words
}

// shellWords splits a line into words up to the end of its first command. It
// knows quotes and comments.
func shellWords(line string) []string {
	var (
		words []string
		word  strings.Builder
		begun bool
		quote rune
	)
	end := func() {
		if begun {
			words = append(words, word.String())
			word.Reset()
			begun = false
		}
	}
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '"' || r == '\'':
			quote, begun = r, true
		case strings.ContainsRune("|;&<>)", r), r == '#' && !begun:
			end()
			return words
		case r == ' ':
			end()
		default:
			word.WriteRune(r)
			begun = true
		}
	}
	end()
	return words
}
