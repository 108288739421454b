package cli

import (
	"runtime"
	"runtime/debug"

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
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version, with those of the parsers and the corpus",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			type dialectVersion struct {
				Name   string `json:"name"`
				Parser string `json:"parser"`
			}
			var readers []dialectVersion
			for _, d := range dialects.All() {
				readers = append(readers, dialectVersion{d.Name(), d.Version()})
			}
			if a.JSON {
				a.PrintJSON(console.NewDocument("ktx-version/1").
					With("version", a.Version).
					With("go", runtime.Version()).
					With("platform", runtime.GOOS+"/"+runtime.GOARCH).
					With("build", build).
					With("dialects", readers).
					With("corpus", corpus.Version()))
				return nil
			}
			a.Printf("ktx %s (%s, %s/%s, %s)\n", a.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH, build)
			for _, r := range readers {
				a.Printf("  %-9s %s\n", r.Name, r.Parser)
			}
			a.Printf("  %-9s %s\n", "corpus", corpus.Version())
			return nil
		},
	}
}
