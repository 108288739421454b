package index

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/ktxhq/ktx/execution/audit"
)

// DefaultPath is where the index of a project's log lies, relative to the project
// directory.
const DefaultPath = ".ktx/audit-index.db"

// Index answers questions about the log in one directory. It is safe for concurrent
// use.
type Index struct {
	log, path string
	reader    *audit.Reader

	updating sync.Mutex // held for the time of an update
	writer   *writer

	idle chan *conn // connections that wait for a question

	remade atomic.Pointer[RemadeError]
}

// RemadeError says that the file was damaged, or was no index, and that it was made anew
// from the log. The answers since then are whole.
type RemadeError struct {
	Time  time.Time
	Cause error
}

func (e *RemadeError) Error() string {
	return e.Cause.Error() + "; it was made anew from the log, so answers are complete"
}

// Unwrap returns what was wrong with the file.
func (e *RemadeError) Unwrap() error { return e.Cause }

// maxIdle bounds the connections that are kept.
const maxIdle = 4

// Exists reports whether there is an index at path.
func Exists(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().IsRegular()
}

// Open opens the index at path of the log in dir. It makes an empty one when there is
// none, and in place of a file that cannot be used. The error wraps fs.ErrNotExist
// when there is no log. A folder that does not exist is made.
func Open(ctx context.Context, dir, path string) (*Index, error) {
	r, err := audit.OpenReader(dir)
	if err != nil {
		return nil, err
	}
	x := &Index{log: dir, path: path, reader: r, idle: make(chan *conn, maxIdle)}
	err = os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		err = x.openWriter(ctx)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open audit index: %w", err), r.Close())
	}
	return x, nil
}

// Close closes the index. No question may be open.
func (x *Index) Close() error {
	x.updating.Lock()
	defer x.updating.Unlock()
	x.dropIdle()
	return errors.Join(x.writer.close(), x.reader.Close())
}

// openWriter opens the connection that writes. A file that cannot be used is deleted.
func (x *Index) openWriter(ctx context.Context) error {
	file, _ := os.Lstat(x.path)
	w, err := newWriter(ctx, x.path)
	if err != nil && unusable(err) && file != nil {
		if err := x.remove(err, file); err != nil {
			return err
		}
		w, err = newWriter(ctx, x.path)
	}
	x.writer = w
	return err
}

// remove deletes a file that cannot be used because of cause, and notes it.
func (x *Index) remove(cause error, file os.FileInfo) error {
	if errors.Is(cause, sqlite3.IOERR_DATA) { // the file system that checks found it
		cause = errDamaged
	}
	if !errors.Is(cause, errVersion) {
		x.remade.Store(&RemadeError{time.Now(), cause})
	}
	return remove(x.path, file)
}

// reopen opens the file anew. When it cannot be used because of damage, it is deleted
// first.
func (x *Index) reopen(ctx context.Context, damage error) error {
	x.dropIdle()
	w := x.writer
	x.writer = nil
	_ = w.close() // the file is of no use
	if damage != nil && w != nil {
		if err := x.remove(damage, w.file); err != nil {
			return err
		}
	}
	return x.openWriter(ctx)
}

func (x *Index) dropIdle() {
	for {
		select {
		case c := <-x.idle:
			_ = c.close() // it only read
		default:
			return
		}
	}
}

// State says how far the index has followed the log, and what the check of the chain
// has found up to there.
type State struct {
	// Report is what [audit.Verify] reports about the log up to Report.LastSeq. Each
	// event was checked when the index took it.
	Report audit.Report `json:"report"`
	// Remade is set when this process found the index damaged.
	Remade *RemadeError `json:"-"`
	// Events is how many events the index has.
	Events int64 `json:"events"`
	// BadLines counts the lines of the log that are not events.
	BadLines int64 `json:"badLines"`
}

// with runs ask on a connection, in a transaction of its own, so that all its
// questions are about the same events. A damaged file, and a log that no longer has
// the event that the index names, lead to a new index and a second try.
func (x *Index) with(ctx context.Context, ask func(*view) error) error {
	for try := 0; ; try++ {
		least, err := x.upTo(ctx, nil)
		if err != nil {
			return err
		}
		file, err := x.ask(ctx, least, ask)
		if errors.Is(err, errAnew) && ctx.Err() == nil {
			try--
			continue
		}
		again := unusable(err) || errors.Is(err, errStale)
		if err == nil || !again || try == 2 {
			return err
		}
		if err := x.discard(ctx, err, file); err != nil {
			return err
		}
	}
}

// errAnew says that the index has fewer events than it had before: another question, or
// another process, makes it anew.
var errAnew = errors.New("the audit index is being made anew")

// errStale says that the log does not have an event as the index has it.
var errStale = errors.New("the log was changed in a part that the index had read")

// ask runs ask once, on an index of least events or more. The file is the one that was
// asked.
func (x *Index) ask(ctx context.Context, least int64, ask func(*view) error) (file os.FileInfo, err error) {
	var c *conn
	select {
	case c = <-x.idle:
	default:
		if c, err = connect(x.path, readerCache); err != nil {
			return nil, err
		}
	}
	always := context.WithoutCancel(ctx)
	if err = c.run(always, `BEGIN`); err == nil {
		v := &view{conn: c, ctx: ctx, log: x.reader}
		if err = v.load(); err == nil && v.state.Events < least {
			err = errAnew
		}
		if err == nil {
			v.state.Remade = x.remade.Load()
			err = ask(v)
		}
	}
	if !c.db.GetAutocommit() {
		err = errors.Join(err, c.run(always, `ROLLBACK`))
	}
	if err != nil {
		return c.file, errors.Join(err, c.close())
	}
	select {
	case x.idle <- c:
		return c.file, nil
	default:
		return c.file, c.close()
	}
}

// view is the index as one question sees it.
type view struct {
	*conn
	ctx   context.Context //nolint:containedctx // a view lives as long as the call
	log   *audit.Reader
	state State
}

func (v *view) load() error {
	data, err := v.value(v.ctx, "state")
	if err != nil || len(data) == 0 {
		return err
	}
	return json.Unmarshal(data, &v.state)
}

// State takes what is new in the log and returns the state of the index.
func (x *Index) State(ctx context.Context) (s State, err error) {
	err = x.with(ctx, func(v *view) error { s = v.state; return nil })
	return s, err
}

// Check reads the whole file, and returns the state of the index. As with every question,
// a file that is damaged is made anew, which State.Remade reports.
func (x *Index) Check(ctx context.Context) (s State, err error) {
	err = x.with(ctx, func(v *view) error {
		s = v.state
		said := ""
		err := v.each(ctx, `PRAGMA quick_check(1)`, nil, func(s *sqlite3.Stmt) bool { said = s.ColumnText(0); return false })
		if err == nil && said != "ok" {
			err = errDamaged
		}
		return err
	})
	return s, err
}
