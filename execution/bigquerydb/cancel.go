package bigquerydb

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/ktxhq/ktx/execution/bigquerydb/wire"
	"github.com/ktxhq/ktx/execution/pool"
)

const (
	// endFor is how long the backend waits until the service says that a job is over that
	// was to be ended.
	endFor = 2 * time.Second
	// askFirst and askMost are the pauses between two questions.
	askFirst = 20 * time.Millisecond
	askMost  = 250 * time.Millisecond
	// unmade is how often the service says that a job is not there until it was never made.
	unmade = 5
)

// end cancels the job and waits until it is over, for a while. Then mayRun is false.
func (x *job) end(ctx context.Context) {
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), endFor)
	defer cancel()
	told, missing := false, 0
	for pause := askFirst; ; pause = min(2*pause, askMost) {
		var now *wire.Job
		var err error
		if told {
			now, err = x.db.client.Job(within, x.ref)
		} else {
			now, err = x.db.client.Cancel(within, x.ref)
			told = err == nil
		}
		if e, ok := errors.AsType[*wire.ServiceError](err); ok && e.Status == http.StatusNotFound {
			missing++
		}
		if over(now, err) || missing == unmade {
			x.mayRun = false
			return
		}
		select {
		case <-time.After(pause):
		case <-within.Done():
			return
		}
	}
}

// over reports whether the service says that a job is over.
func over(j *wire.Job, err error) bool {
	return err == nil && j != nil && j.Status != nil && j.Status.State == "DONE"
}

// fates asks what became of jobs that were to be ended, and cancels them again.
func (d *DB) fates(ctx context.Context, held []*slot) ([]pool.Fate, error) {
	out := make([]pool.Fate, 0, len(held))
	for _, s := range held {
		j, err := d.client.Job(ctx, s.job)
		if err == nil && !over(j, nil) {
			j, err = d.client.Cancel(ctx, s.job)
		}
		e, refused := errors.AsType[*wire.ServiceError](err)
		switch {
		case refused && e.Status == http.StatusNotFound:
			out = append(out, pool.Unknowable) // it was never made, or is forgotten
		case err != nil:
			return nil, d.broken(err, "")
		case over(j, nil):
			out = append(out, pool.Over)
		default:
			out = append(out, pool.Runs)
		}
	}
	return out, nil
}
