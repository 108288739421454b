package research

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/wiring"
	"github.com/ktxhq/ktx/research/wiki"
)

// writeOptions are the flags of ktx wiki write.
type writeOptions struct {
	file          string
	user, replace bool
}

func wikiWriteCommand(a *console.App) *cobra.Command {
	var o writeOptions
	c := &cobra.Command{
		Use:   "write KEY [-]",
		Short: "Write a page from standard input, a file, or an editor",
		Long: `Write a page of the wiki. Give its text on standard input (-) or in a file (--file).
On a terminal, without either, the page opens in the editor that VISUAL or EDITOR
names. The text may begin with a head of YAML between lines ---.

A page with another text is replaced only with --replace, or from the editor.

Exit codes: 0 written, or equal already · 2 the text or the key is not valid ·
3 it could not be written.`,
		Example: `  ktx wiki write net-revenue --file net-revenue.md
  printf 'Amounts are in cents.\n' | ktx wiki write amounts -`,
		Args: cobra.RangeArgs(1, 2),
		ValidArgsFunction: func(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
			return completeKeys(a)(cmd, args, word)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 2 && args[1] != "-" {
				return console.Usage("unexpected argument %q: give the text with --file, or - for standard input", args[1])
			}
			if len(args) == 2 && o.file != "" {
				return console.Usage("give the text with --file or -, not both")
			}
			if len(args) == 2 {
				o.file = "-"
			}
			if err := wiki.CheckKey(args[0]); err != nil {
				return console.AsUsage(err)
			}
			return wiring.WithGateway(cmd.Context(), a, "cli", func(ctx context.Context, open *wiring.OpenProject) error {
				return writePage(ctx, a, open.Wiki(), args[0], o)
			})
		},
	}
	c.Flags().StringVar(&o.file, "file", "", "read the text from a file; - is standard input")
	c.Flags().BoolVar(&o.user, "user", false, "write the page of the user, in wiki/user/NAME")
	c.Flags().BoolVar(&o.replace, "replace", false, "replace a page that has another text")
	return c
}

func writePage(ctx context.Context, a *console.App, store *wiki.Store, key string, o writeOptions) error {
	scope := wiki.Global
	if o.user {
		scope = wiki.User
	}
	before, err := store.Raw(scope, key)
	if errors.Is(err, fs.ErrNotExist) {
		before, err = nil, nil
	}
	if err != nil {
		return console.Failed("read the page: %w", err)
	}
	var text []byte
	if o.file == "" && a.Interactive() {
		text, err = editPage(ctx, a, key, before)
		o.replace = true
	} else {
		text, err = readPage(a, o.file)
	}
	if err != nil {
		return err
	}
	changed := before == nil || !bytes.Equal(before, text)
	if changed && before != nil && !o.replace {
		return console.Usage("the page %s exists with another text; replace it with --replace, or see it with ktx wiki read %s", key, key)
	}
	if changed {
		err := store.Write(scope, key, before, text)
		if invalid, ok := errors.AsType[*wiki.InvalidPageError](err); ok {
			return console.AsUsage(invalid)
		}
		if err != nil {
			return console.Failed("%w", err)
		}
	}
	result := console.NewDocument("ktx-wiki-write/1").With("key", key).With("scope", scope).With("path", store.Path(scope, key)).With("changed", changed)
	switch {
	case a.JSON:
		a.PrintJSON(result)
	case changed:
		a.Printf("wrote %s\n", store.Path(scope, key))
	default:
		a.Printf("%s has this text already\n", store.Path(scope, key))
	}
	return nil
}

// readPage reads the text of a page from a file or from standard input.
func readPage(a *console.App, file string) ([]byte, error) {
	var r io.Reader
	switch file {
	case "":
		return nil, console.Usage("no text: give it with --file FILE, or - for standard input")
	case "-":
		r = a.In
	default:
		f, err := os.Open(file) //nolint:gosec // the user names the file
		if err != nil {
			return nil, console.Failed("read the text: %w", err)
		}
		defer func() { _ = f.Close() }()
		r = f
	}
	text, err := io.ReadAll(io.LimitReader(r, wiki.MaxPage+1)) // one more, so that the store says that it is too large
	if err != nil {
		return nil, console.Failed("read the text: %w", err)
	}
	return text, nil
}

// newPage is what the editor shows for a page that does not exist.
const newPage = `---
summary: 
tags: []
---
`

// editPage opens a page in the user's editor and returns its text.
func editPage(ctx context.Context, a *console.App, key string, before []byte) ([]byte, error) {
	editor := ""
	for _, name := range []string{"VISUAL", "EDITOR"} {
		if value, _ := a.Lookup(name); strings.TrimSpace(value) != "" && editor == "" {
			editor = value
		}
	}
	words := strings.Fields(editor)
	if len(words) == 0 {
		return nil, console.Usage("no text: give it with --file FILE or -, or set VISUAL or EDITOR to your editor")
	}
	dir, err := os.MkdirTemp("", "ktx-wiki-")
	if err != nil {
		return nil, console.Failed("edit the page: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	name := filepath.Join(dir, key+".md")
	text := before
	if text == nil {
		text = []byte(newPage)
	}
	if err := os.WriteFile(name, text, 0o600); err != nil {
		return nil, console.Failed("edit the page: %w", err)
	}
	cmd := exec.CommandContext(ctx, words[0], append(words[1:], name)...) //nolint:gosec // the user names the editor
	cmd.Stdin, cmd.Stdout, cmd.Stderr = a.Stdin, os.Stderr, os.Stderr
	if err := cmd.Run(); err != nil {
		return nil, console.Failed("run %s: %w", words[0], err)
	}
	text, err = os.ReadFile(name) //nolint:gosec // the file was made above
	if err != nil {
		return nil, console.Failed("edit the page: %w", err)
	}
	if before == nil && string(text) == newPage {
		return nil, console.Usage("the page was not changed, so nothing is written")
	}
	return text, nil
}
