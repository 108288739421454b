package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/execution/duckdbdb/engine"
)

// Main runs one command and returns the exit code. After the first interrupt the
// command closes what it has open and ends; the second ends the process at once.
func Main(args []string, in io.Reader, out, errw io.Writer) int {
	if engine.Asked(args) {
		return engine.Run(in, out)
	}
	// Without SIGPIPE a write to a closed pipe fails, and connections and the
	// audit log are closed as usual. The signal would end the process at once.
	signal.Ignore(syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	ctx, own := endedByInterrupt(ctx)
	context.AfterFunc(ctx, stop) // the second signal has its default effect
	a := &console.App{Stdin: in, Out: console.NewStream(out), Err: console.NewStream(errw), Lookup: os.LookupEnv, Args: args, Version: productVersion(), OwnInterrupts: own, FreeSpace: freeSpace}
	return run(ctx, a)
}

// endedByInterrupt returns a context that the first interrupt ends, unless own was called
// before: then every interrupt is sent to the channel that it returned.
func endedByInterrupt(ctx context.Context) (_ context.Context, own func() <-chan os.Signal) {
	ctx, cancel := context.WithCancel(ctx)
	interrupts, owned := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(interrupts, os.Interrupt)
	go func() {
		defer cancel()
		select {
		case <-interrupts:
			signal.Stop(interrupts)
		case <-ctx.Done():
			signal.Stop(interrupts)
		case <-owned:
			<-ctx.Done()
		}
	}()
	return ctx, sync.OnceValue(func() <-chan os.Signal {
		close(owned)
		return interrupts
	})
}

func run(ctx context.Context, a *console.App) int {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	a.Out.OnFailure = cancel // nobody reads further output
	a.In = console.NewInput(ctx, a.Stdin)
	root := newRoot(a)
	root.SetArgs(a.Args)
	err := root.ExecuteContext(ctx)
	code := console.ExitOK
	if err != nil {
		code = a.Report(err)
	}
	return afterWriting(a, code)
}

// afterWriting returns the exit code, given that standard output may have failed.
// A reader that closed its end is no error; a full disk is.
func afterWriting(a *console.App, code int) int {
	switch err := a.Out.Failure(); {
	case err == nil:
		return code
	case errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe):
		if code == console.ExitFailed {
			return console.ExitOK // the command was cancelled because the reader closed its end
		}
		return code
	default:
		a.Errorf("ktx: the result could not be written: %v\n", err)
		return console.ExitFailed
	}
}
