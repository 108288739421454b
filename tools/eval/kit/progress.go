package kit

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"sync"
	"time"

	"golang.org/x/term"
)

// each calls do for 0 to n-1, several at a time, and shows on the standard error how
// many are done. It returns the first error and stops then.
func (k *kit) each(ctx context.Context, what string, n int, do func(ctx context.Context, i int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	bar := &bar{kit: k, what: what, of: n}
	bar.show(true)
	next := make(chan int)
	var workers sync.WaitGroup
	for range min(n, max(2, runtime.GOMAXPROCS(0))) {
		workers.Go(func() {
			for i := range next {
				if err := do(ctx, i); err != nil {
					cancel(err)
				}
				bar.step()
			}
		})
	}
	for i := 0; i < n && ctx.Err() == nil; i++ {
		select {
		case next <- i:
		case <-ctx.Done():
		}
	}
	close(next)
	workers.Wait()
	bar.show(true)
	if k.terminal {
		_, _ = fmt.Fprintln(k.stderr)
	}
	return context.Cause(ctx)
}

// A bar shows how much of a step is done: on a terminal in one line that changes,
// otherwise in a line at the start and at the end.
type bar struct {
	kit  *kit
	what string
	of   int

	mu    sync.Mutex
	done  int
	shown time.Time
}

func (b *bar) step() {
	b.mu.Lock()
	b.done++
	b.mu.Unlock()
	b.show(false)
}

func (b *bar) show(always bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !always && (!b.kit.terminal || time.Since(b.shown) < 100*time.Millisecond) {
		return
	}
	b.shown = time.Now()
	line := fmt.Sprintf("eval: %s: %d of %d", b.what, b.done, b.of)
	if b.kit.terminal {
		line = "\r" + line + "\x1b[K"
	} else {
		line += "\n"
	}
	_, _ = fmt.Fprint(b.kit.stderr, line)
}

// onTerminal reports whether a writer is a terminal.
func onTerminal(w any) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
