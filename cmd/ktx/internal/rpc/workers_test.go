package rpc_test

import (
	"sync"
	"testing"
	"testing/synctest"

	"github.com/ktxhq/ktx/cmd/ktx/internal/rpc"
)

// TestWorkers shows that every call runs, that calls run beside each other, and that no
// goroutine is left after the end.
func TestWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // fails when a goroutine is left
		w := rpc.NewWorkers()
		for range 3 {
			var started, ended sync.WaitGroup
			started.Add(100)
			open := make(chan struct{})
			for range 100 {
				ended.Add(1)
				w.Go(func() {
					defer ended.Done()
					started.Done()
					<-open
				})
			}
			started.Wait() // of all, so none waits for another one
			close(open)
			ended.Wait()
			synctest.Wait()
		}
		w.Close()
	})
}
