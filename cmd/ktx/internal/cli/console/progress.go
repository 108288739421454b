package console

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// Progress is shown after progressAfter, and again at every progressEvery.
const (
	progressAfter = 500 * time.Millisecond
	progressEvery = 100 * time.Millisecond
)

// Progress shows how much of a long piece of work is done.
type Progress struct {
	done   atomic.Int64
	finish chan struct{}
	wait   sync.WaitGroup
}

// Progress starts to count a piece of work, and shows "what DONE/TOTAL" on
// standard error once it has taken half a second. It shows nothing unless standard
// error is a terminal. The caller must call Stop.
func (a *App) Progress(what string, total int) *Progress {
	return a.ProgressLine(func(done int64) string {
		return fmt.Sprintf("%s %d/%d (%d %%)", what, done, total, 100*done/max(1, int64(total)))
	})
}

// ProgressLine is [App.Progress] with a line of the caller's own. It must not be
// wider than a terminal.
func (a *App) ProgressLine(line func(done int64) string) *Progress {
	p := &Progress{finish: make(chan struct{})}
	if !a.Err.Terminal || a.automated() {
		return p
	}
	p.wait.Go(func() {
		timer := time.NewTimer(progressAfter)
		defer timer.Stop()
		shown := false
		for {
			select {
			case <-p.finish:
				if shown {
					a.Errorf("\r\x1b[K") // erase the line
				}
				return
			case <-timer.C:
				shown = true
				a.Errorf("\r\x1b[K%s", line(p.done.Load()))
				timer.Reset(progressEvery)
			}
		}
	})
	return p
}

// Set says how many pieces of the work are done. It is safe for concurrent use.
func (p *Progress) Set(done int64) { p.done.Store(done) }

// Step counts one piece of the work as done. It is safe for concurrent use.
func (p *Progress) Step() { p.done.Add(1) }

// Stop ends the display and erases it.
func (p *Progress) Stop() {
	close(p.finish)
	p.wait.Wait()
}
