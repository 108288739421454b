package project

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/wiring"
	"github.com/ktxhq/ktx/research/upstream"
)

// upstreams connects to the other MCP servers of the project, and reports what is wrong
// with them.
func (e *examination) upstreams(ctx context.Context, open *wiring.OpenProject) {
	if e.only != "" || !e.project.Config.Upstreams.Set() {
		return
	}
	if err := open.StartUpstreams(e.app, false, nil); err != nil {
		e.add(finding{Group: groupUpstream, Level: levelError, Message: err.Error(), Fix: "correct the block upstreams"})
		return
	}
	for _, name := range slices.Sorted(maps.Keys(e.project.Config.Upstreams.Servers)) {
		if enabled := e.project.Config.Upstreams.Servers[name].Enabled; enabled != nil && !*enabled {
			continue
		}
		limited, cancel := context.WithTimeout(ctx, e.timeout)
		found, err := open.Upstream.Check(limited, name)
		cancel()
		if err != nil {
			e.add(finding{Group: groupUpstream, Level: levelError, Message: name + ": " + err.Error()})
			continue
		}
		for _, f := range found {
			level := map[string]string{upstream.LevelNote: levelOK, upstream.LevelWarning: levelWarning, upstream.LevelError: levelError}[f.Level]
			e.add(finding{Group: groupUpstream, Level: level, Message: strings.TrimSuffix(f.Server+":"+f.Tool, ":") + ": " + f.Message, Fix: f.Fix})
		}
	}
}
