package semantic

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/wiring"
	"github.com/ktxhq/ktx/research/semantic"
	"github.com/ktxhq/ktx/research/semantic/interchange"
)

// manifestName is the file of dbt's target folder that holds its semantic models.
const manifestName = "semantic_manifest.json"

// importCommand returns ktx sl import.
func importCommand(a *console.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "import",
		Short: "Write sources from a semantic model of another tool",
		Long: `Write sources from a semantic model of another tool. What means the same here is
carried over. Everything else is listed with the reason. A file that exists is never
written.

Scan the connection first: the scan knows the types and the keys of the tables, and
these formats do not.`,
		Example: `  ktx sl import dbt target --dry-run`,
		Args:    cobra.ArbitraryArgs,
		RunE: func(*cobra.Command, []string) error {
			return console.Usage("name the format: ktx sl import dbt TARGET, or ktx sl import osi FILE")
		},
	}
	c.AddCommand(
		importFormat(a, "dbt", "dbt TARGET", "Import the semantic models and metrics of a dbt project", `Import the semantic models and the MetricFlow metrics of a dbt project. TARGET is its
target folder or the file semantic_manifest.json in it, which dbt parse writes (dbt 1.6
or later).

Exit codes: 0 something was carried over · 1 nothing was · 2 wrong usage · 3 it could
not be done.`, `  ktx sl import dbt target -c warehouse --dry-run
  ktx sl import dbt target/semantic_manifest.json`),
		importFormat(a, "osi", "osi FILE", "Import a file of the Open Semantic Interchange format", `Import a file of the Open Semantic Interchange format (Apache Ossie), YAML or JSON.
Versions `+strings.Join(interchange.OSIVersions, " and ")+` are read. Of each expression the one in ANSI_SQL is
taken.

Exit codes: 0 something was carried over · 1 nothing was · 2 wrong usage · 3 it could
not be done.`, `  ktx sl import osi shop.osi.yaml -c warehouse`),
	)
	return c
}

func importFormat(a *console.App, format, use, short, long, example string) *cobra.Command {
	var connection string
	var dry bool
	c := &cobra.Command{
		Use: use, Short: short, Long: long, Example: example, Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			content, err := importInput(format, args[0])
			if err != nil {
				return err
			}
			return wiring.WithGateway(cmd.Context(), a, "cli", func(ctx context.Context, open *wiring.OpenProject) error {
				info, err := wiring.OneConnection(ctx, open, connection)
				if err != nil {
					return err
				}
				out, err := open.Service.SLImport(ctx, info.ID, format, content, dry)
				if bad, ok := errors.AsType[*interchange.InputError](err); ok {
					text := args[0] + ": " + bad.Message
					if bad.Hint != "" {
						text += "; " + bad.Hint
					}
					return console.Usage("%s", text)
				}
				if out != nil && (err == nil || len(out.Files) > 0) {
					showImport(a, info.ID, format, out, dry)
				}
				if err == nil && len(out.Files) == 0 {
					return &console.ExitError{Code: console.ExitFindings}
				}
				return err
			})
		},
	}
	c.Flags().StringVarP(&connection, "connection", "c", "", "connection id (default: the only one)")
	c.Flags().BoolVar(&dry, "dry-run", false, "print the files and write nothing")
	_ = c.RegisterFlagCompletionFunc("connection", wiring.CompleteConnections(a))
	return c
}

// importInput reads the input of an import.
func importInput(format, name string) ([]byte, error) {
	ext := strings.ToLower(filepath.Ext(name))
	if format == "dbt" {
		if info, err := os.Stat(name); err == nil && info.IsDir() {
			folder := name
			name = filepath.Join(folder, manifestName)
			if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) {
				return nil, console.Usage("%s has no %s: run `dbt parse` (dbt 1.6 or later), which writes it to the target folder of the dbt project, and give that folder", folder, manifestName)
			}
		} else if ext == ".yml" || ext == ".yaml" {
			return nil, console.Usage("%s is a file that dbt resolves first: run `dbt parse` (dbt 1.6 or later), and give the target folder of the dbt project", name)
		}
	}
	info, err := os.Stat(name)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file", name)
	}
	if err != nil {
		return nil, console.AsUsage(err)
	}
	f, err := os.Open(name) //nolint:gosec // The person who runs the command names the file.
	if err != nil {
		return nil, console.AsUsage(err)
	}
	defer func() { _ = f.Close() }()
	content, err := io.ReadAll(io.LimitReader(f, interchange.MaxBytes+1)) // one more, so that it is refused as too large
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return content, nil
}

func showImport(a *console.App, connection, format string, out *interchange.Result, dry bool) {
	if a.JSON {
		a.PrintJSON(console.NewDocument("ktx-sl-import/1").With("connectionId", connection).With("format", format).With("dryRun", dry).
			With("files", orEmpty(out.Files)).With("exists", orEmpty(out.Exists)).With("leftOut", orEmpty(out.Left)).With("notes", orEmpty(out.Notes)))
		return
	}
	for _, f := range out.Files {
		name := path.Join(semantic.Folder, connection, f.Name)
		if dry {
			a.Printf("# %s\n%s", name, console.EscapeLines(string(f.Content)))
			continue
		}
		line := "wrote " + name
		if len(f.Measures) > 0 {
			line += ": " + strings.Join(f.Measures, ", ")
		}
		a.Printf("%s\n", console.EscapeControls(line))
	}
	for _, e := range out.Exists {
		a.Printf("%s\n", console.EscapeControls("exists, not touched: "+path.Join(semantic.Folder, connection, e.Name)+" ("+e.Source+")"))
	}
	for _, l := range out.Left {
		name := l.Name
		if l.Source != "" {
			name = l.Source + "." + l.Name
		}
		a.Printf("%s\n", console.EscapeControls("left out: "+l.Kind+" "+name+": "+l.Reason))
	}
	for _, n := range out.Notes {
		name := n.Source
		if n.Name != "" {
			name += "." + n.Name
		}
		if name != "" {
			name += ": "
		}
		a.Errorf("%s\n", console.EscapeControls("note: "+name+n.Text))
	}
}
