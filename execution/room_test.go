package execution_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/sqlguard"
)

// TestRoom: answers take no more than the room, those that wait get it in order, and
// one that waits too long fails as busy.
func TestRoom(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := execution.NewRoom(1400) // for answers of 200 bytes
		a, b, c := r.NewShare(), r.NewShare(), r.NewShare()
		ctx := t.Context()
		if err := a.Take(ctx, 150); err != nil || r.Taken() != 1050 {
			t.Fatalf("%v, %d taken", err, r.Taken())
		}
		if err := a.Take(ctx, 100); err != nil || r.Taken() != 1050 {
			t.Fatalf("a share that is large enough grew: %v, %d", err, r.Taken())
		}
		second, third := make(chan error, 1), make(chan error, 1)
		go func() { second <- b.Take(ctx, 100) }()
		synctest.Wait()
		go func() { third <- c.Take(ctx, 10) }() // would fit, but is later
		synctest.Wait()
		if r.Taken() != 1050 {
			t.Fatalf("%d taken while two wait", r.Taken())
		}
		a.Keep(120)
		if err := <-second; err != nil {
			t.Fatal(err)
		}
		if err := <-third; err != nil || r.Taken() != 600+700+70 {
			t.Fatalf("%v, %d taken", err, r.Taken())
		}
		began := time.Now()
		err := r.NewShare().Take(ctx, 1<<40)
		if execution.CodeOf(err) != sqlguard.CodeBusy || time.Since(began) != 10*time.Second {
			t.Errorf("after %s: %v", time.Since(began), err)
		}
		left, cancel := context.WithCancel(ctx)
		cancel()
		if err := r.NewShare().Take(left, 100); execution.CodeOf(err) != sqlguard.CodeCancelled {
			t.Errorf("a client that left: %v", err)
		}
		for _, s := range []*execution.Share{a, b, c} {
			s.Leave()
			s.Leave()
		}
		if r.Taken() != 0 {
			t.Errorf("%d taken after all left", r.Taken())
		}
		if err := a.Take(ctx, 1); execution.CodeOf(err) != sqlguard.CodeCancelled || r.Taken() != 0 {
			t.Errorf("a share that was given back: %v, %d", err, r.Taken())
		}
		if err := r.NewShare().Take(ctx, 1<<40); err != nil || r.Taken() != 1400 {
			t.Errorf("an answer as large as the room: %v, %d", err, r.Taken())
		}
	})
}

// TestNoRoom: without a share nothing is counted.
func TestNoRoom(t *testing.T) {
	t.Parallel()
	s := execution.ShareFrom(t.Context())
	s.Keep(1)
	s.Leave()
	if err := s.Take(t.Context(), 1<<40); err != nil {
		t.Error(err)
	}
}

// A small answer is made beside large ones that fill the room.
func TestSmallAnswersDoNotWait(t *testing.T) {
	const small = 100
	r := execution.NewRoom(32 * 7 * small)
	if err := r.NewShare().Take(t.Context(), 32*small); err != nil {
		t.Fatal(err)
	}
	for range 8 { // a quarter of the room more
		if err := r.NewShare().Take(t.Context(), small); err != nil {
			t.Fatal(err)
		}
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.NewShare().Take(gone, small); err == nil {
		t.Errorf("%d bytes are taken, and more are given", r.Taken())
	}
}
