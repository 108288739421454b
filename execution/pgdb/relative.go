package pgdb

import (
	"context"
	"slices"
	"strings"

	"github.com/ktxhq/ktx/execution"
)

// relatives compares the relative of PostgreSQL that the configuration names with what
// the server says of itself.
func (p *prober) relatives(ctx context.Context) error {
	rows, err := p.ask(ctx, "whether the server is a relative of PostgreSQL", relativesSQL)
	if err != nil || len(rows) != 1 {
		return err
	}
	found := strings.Fields(rows[0][0])
	declared := p.db.relative
	if declared != "" && !slices.Contains(found, declared) {
		p.report.Warn(execution.TopicServer, "set driver: postgres, or mend the address", "ktx.yaml has driver: postgres:%s, and the server does not look like one: functions of the same names are somebody's own there", declared)
	}
	for _, relative := range found {
		if declared == "" {
			p.report.Note(execution.TopicServer, "set driver: postgres:"+relative, "the server is one of those that the driver postgres:%s is for, which knows its own functions", relative)
		}
	}
	return nil
}
