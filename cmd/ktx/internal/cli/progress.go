package cli

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// When progress is shown, and how often.
const (
	progressAfter = 500 * time.Millisecond
	progressEvery = 100 * time.Millisecond
)

// progress shows how far a long piece of work is, on a terminal only.
type progress struct {
	done   atomic.Int64
	finish chan struct{}
	wait   sync.WaitGroup
}

// progress starts to show "what DONE/TOTAL" once the work has taken a while.
func (a *app) progress(what string, total int) *progress {
	p := &progress{finish: make(chan struct{})}
	if !a.err.terminal || a.automated() {
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
					a.errorf("\r\x1b[K") // erase the line
				}
				return
			case <-timer.C:
				shown = true
				done := p.done.Load()
				a.errorf("\r\x1b[K%s", fmt.Sprintf("%s %d/%d (%d %%)", what, done, total, 100*done/max(1, int64(total))))
				timer.Reset(progressEvery)
			}
		}
	})
	return p
}

// step counts one piece of the work as done. It is safe for concurrent use.
func (p *progress) step() { p.done.Add(1) }

// stop ends the display and removes it.
func (p *progress) stop() {
	close(p.finish)
	p.wait.Wait()
}
