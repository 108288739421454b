package audittest_test

import (
	"errors"
	"testing"

	"github.com/ktxhq/ktx/execution/audit"
	"github.com/ktxhq/ktx/execution/audit/audittest"
)

func TestLog(t *testing.T) {
	t.Parallel()
	var log audittest.Log
	ctx := audit.WithActor(t.Context(), audit.Actor{Principal: "analyst"})
	if err := log.Append(ctx, audit.Event{Type: audit.QueryDecision}); err != nil {
		t.Fatal(err)
	}
	full := errors.New("disk full")
	log.Fail(full)
	if err := log.Append(ctx, audit.Event{Type: audit.QueryFinished}); !errors.Is(err, full) || !errors.Is(err, audit.ErrUnavailable) {
		t.Errorf("append to a failing log: %v", err)
	}
	log.Fail(nil)
	if err := log.Append(ctx, audit.Event{Type: audit.QueryFinished}); err != nil {
		t.Fatal(err)
	}
	if got := log.Events(); len(got) != 2 || got[0].Principal != "analyst" || got[1].Seq != 2 || got[1].Time.IsZero() {
		t.Errorf("events %+v", got)
	}
	if got := log.Events(audit.QueryFinished); len(got) != 1 {
		t.Errorf("finished %+v", got)
	}
	if again := log.HMAC("a"); log.HMAC("a") != again || log.HMAC("b") == again {
		t.Error("HMAC is not a function of the text")
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	if err := log.Append(ctx, audit.Event{Type: audit.QueryFinished}); !errors.Is(err, audit.ErrUnavailable) {
		t.Errorf("append after close: %v", err)
	}
}
