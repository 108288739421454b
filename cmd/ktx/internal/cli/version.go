package cli

import (
	"runtime"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/corpus"
	"github.com/ktxhq/ktx/dialects"
)

// version is set by the linker for releases.
var version = ""

// productVersion returns the version of the release, else of the module, else
// "devel".
func productVersion() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "devel"
}

func versionCommand(a *console.App) *cobra.Command {
	var check bool
	var timeout time.Duration
	c := &cobra.Command{
		Use:   "version",
		Short: "Print the version, with those of the parsers and the corpus",
		Long: `Print the version, with those of the parsers and the corpus. With --check, ask GitHub
for the latest release. ktx never asks by itself. The variable ` + releasesVariable + `
names another address that answers like GitHub's.

Exit codes: 0 done · 1 a newer release exists · 2 wrong usage · 3 the latest release is
not known.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("timeout") && (!check || timeout <= 0) {
				return console.Usage("--timeout belongs to --check, and must be more than 0")
			}
			var latest *newest
			if check {
				found, err := latestRelease(cmd.Context(), a, timeout)
				if err != nil {
					return err
				}
				latest = &found
			}
			type dialectVersion struct {
				Name   string `json:"name"`
				Parser string `json:"parser"`
			}
			var readers []dialectVersion
			for _, d := range dialects.All() {
				readers = append(readers, dialectVersion{d.Name(), d.Version()})
			}
			if a.JSON {
				doc := console.NewDocument("ktx-version/1").
					With("version", a.Version).
					With("go", runtime.Version()).
					With("platform", runtime.GOOS+"/"+runtime.GOARCH).
					With("build", build).
					With("dialects", readers).
					With("corpus", corpus.Version())
				if latest != nil {
					doc = doc.With("latest", latest)
				}
				a.PrintJSON(doc)
				return latest.finding()
			}
			a.Printf("ktx %s (%s, %s/%s, %s)\n", a.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH, build)
			for _, r := range readers {
				a.Printf("  %-9s %s\n", r.Name, r.Parser)
			}
			a.Printf("  %-9s %s\n", "corpus", corpus.Version())
			if latest != nil {
				a.Printf("%s\n", console.EscapeControls(latest.String()))
			}
			return latest.finding()
		},
	}
	c.Flags().BoolVar(&check, "check", false, "ask GitHub whether a newer release exists")
	c.Flags().DurationVar(&timeout, "timeout", 5*time.Second, "with --check: give up after this time")
	return c
}
