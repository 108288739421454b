package cli

import (
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/corpus"
	"github.com/ktxhq/ktx/dialects"
)

// version is set by the linker for releases.
var version = ""

// productVersion returns the version of this build: that of the release, else
// of the module, else "devel".
func productVersion() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "devel"
}

func (a *app) versionCommand() *cobra.Command {
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
			if a.json {
				a.printJSON(newDocument("ktx-version/1").
					with("version", a.version).
					with("go", runtime.Version()).
					with("platform", runtime.GOOS+"/"+runtime.GOARCH).
					with("dialects", readers).
					with("corpus", corpus.Version()))
				return nil
			}
			a.printf("ktx %s (%s, %s/%s)\n", a.version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
			for _, r := range readers {
				a.printf("  %-9s %s\n", r.Name, r.Parser)
			}
			a.printf("  %-9s %s\n", "corpus", corpus.Version())
			return nil
		},
	}
}
