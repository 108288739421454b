package console

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

// Progress shows how far a long piece of work is, on a terminal only.
type Progress struct {
	Done   atomic.Int64
	finish chan struct{}
	wait   sync.WaitGroup
}

// Progress starts to show "what DONE/TOTAL" once the work has taken a while.
func (a *App) Progress(what string, total int) *Progress {
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
				done := p.Done.Load()
				a.Errorf("\r\x1b[K%s", fmt.Sprintf("%s %d/%d (%d %%)", what, done, total, 100*done/max(1, int64(total))))
				timer.Reset(progressEvery)
			}
		}
	})
	return p
}

// Step counts one piece of the work as done. It is safe for concurrent use.
func (p *Progress) Step() { p.Done.Add(1) }

// Stop ends the display and removes it.
func (p *Progress) Stop() {
	close(p.finish)
	p.wait.Wait()
}
