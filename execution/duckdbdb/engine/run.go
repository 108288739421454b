//go:build cgo && duckdb && (linux || darwin) && (amd64 || arm64)

package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/ktxhq/ktx/execution/duckdbdb/wire"
)

// Run is the process: it opens the database that the first frame names, and runs
// statements until in ends. It returns the exit code.
func Run(in io.Reader, out io.Writer) int {
	e := engine{conn: wire.New(in, out)}
	_, payload, err := e.conn.Read(maxSetup)
	if err != nil {
		return 1
	}
	if err := json.Unmarshal(payload, &e.settings); err != nil {
		return 1
	}
	frames := make(chan []byte)
	go e.listen(frames)
	if err := e.setUp(); err != nil {
		if _, told := errors.AsType[*failure](err); !told {
			err = &failure{Type: wire.TypeSession, Message: err.Error()}
		}
		_ = e.fail(err) // ktx also notices that the process ends
		e.leave(1)
	}
	if err := e.conn.Write(wire.Ready, wire.Greeting{Version: e.version}); err != nil {
		e.leave(1)
	}
	for {
		select {
		case payload := <-frames:
			if err := e.serve(payload); err != nil {
				fmt.Fprintln(os.Stderr, err)
				e.leave(1)
			}
		case <-time.After(e.settings.Idle):
			e.leave(0)
		}
	}
}

// maxSetup bounds the first frame, which lists the files.
const maxSetup = 64 << 20

// listen passes statements on. It ends the process as soon as ktx is gone, whatever the
// engine does then.
func (e *engine) listen(frames chan<- []byte) {
	for {
		kind, payload, err := e.conn.Read(wire.MaxControl)
		if err != nil || kind != wire.Query {
			e.leave(0)
		}
		frames <- payload
	}
}

// leave ends the process. The operating system frees what the engine has.
func (e *engine) leave(code int) {
	_ = os.RemoveAll(e.settings.Temp) // ktx does so too, unless it was killed
	os.Exit(code)
}

// serve runs one statement and answers it. An error means that the process is unfit for
// another statement.
func (e *engine) serve(payload []byte) error {
	var s wire.Statement
	if err := json.Unmarshal(payload, &s); err != nil {
		return fmt.Errorf("read a statement: %w", err)
	}
	allowTime(s.Limits.Timeout, e.settings.Threads)
	if err := e.begin(); err != nil {
		return err
	}
	failed := e.read(s)
	if err := e.rollback(); err != nil {
		return err
	}
	if failed != nil {
		return e.fail(failed)
	}
	return e.conn.Write(wire.Done, nil)
}
