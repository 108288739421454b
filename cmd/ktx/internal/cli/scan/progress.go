package scan

import (
	"fmt"
	"sync"
	"time"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/research/scan"
)

// progress is the progress bar of a scan: tables, rows and the time that is left.
type progress struct {
	id   string
	now  func() time.Time
	line *console.Progress

	mu    sync.Mutex
	last  scan.Progress
	first scan.Progress // when the first table of this run was begun
	start time.Time
}

func newProgress(a *console.App, id string, now func() time.Time) *progress {
	p := &progress{id: id, now: now}
	p.line = a.ProgressLine(func(int64) string { return p.text() })
	return p
}

func (p *progress) set(now scan.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.start.IsZero() && now.Stage == scan.StageProfile {
		p.start, p.first = p.now(), now
	}
	p.last = now
}

func (p *progress) stop() { p.line.Stop() }

// text returns the line.
func (p *progress) text() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch p.last.Stage {
	case scan.StageProfile:
	case scan.StageRelationships:
		return p.id + ": looking for relationships"
	case scan.StageWriting:
		return p.id + ": writing"
	case scan.StageStructure:
		return p.id + ": reading the catalogue"
	default: // before the first step
		return p.id + ": connecting"
	}
	text := fmt.Sprintf("%s: %d/%d tables, %d rows", p.id, p.last.Tables, p.last.Total, p.last.Rows)
	done := p.last.Tables - p.first.Tables
	if done == 0 {
		return text
	}
	left := p.now().Sub(p.start) / time.Duration(done) * time.Duration(p.last.Total-p.last.Tables)
	return text + ", " + left.Round(time.Second).String() + " left"
}
