package index

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/ktxhq/ktx/execution/audit"
)

// batchEvents is how many events are read at a time, and maxBatches how many times one
// transaction takes as many. Fewer transactions write the pages of the index less often.
const (
	batchEvents = 4096
	maxBatches  = 16
)

// batch is a part of the log that has been read and checked.
type batch struct {
	from, to audit.Checkpoint
	events   []taken
	bad      int64 // lines before the last event that are not events
	tail     int64 // such lines after it
	report   audit.Report
	over     bool // the log had no more
	err      error
}

// taken is an event and where it lies.
type taken struct {
	audit.Event
	segment       int64
	offset, bytes int64
	hash          int64 // of the line
}

// readBatch reads the events after cp.
func readBatch(ctx context.Context, dir string, cp audit.Checkpoint) batch {
	b := batch{from: cp, to: cp, over: true}
	for rec, err := range audit.CheckedFrom(ctx, dir, &b.to, &b.report) {
		if _, bad := errors.AsType[*audit.LineError](err); bad {
			b.tail++
			continue
		}
		if err != nil {
			b.err = err
			break
		}
		number, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimPrefix(rec.Segment, "audit-"), ".jsonl"), 10, 64)
		b.events = append(b.events, taken{Event: rec.Event, segment: number, offset: rec.Offset, bytes: int64(len(rec.Raw)) + 1, hash: lineNumber(rec.Raw)})
		b.bad, b.tail = b.bad+b.tail, 0
		if len(b.events) == batchEvents {
			b.over = false
			break
		}
	}
	return b
}

// Update takes the events that the log has more than the index. progress, which may
// be nil, gets the bytes of the log that have been taken, and all its bytes. The
// error wraps fs.ErrNotExist when the log has gone.
func (x *Index) Update(ctx context.Context, progress func(done, total int64)) error {
	_, err := x.upTo(ctx, progress)
	return err
}

// upTo is Update. It returns how far the index is then.
func (x *Index) upTo(ctx context.Context, progress func(done, total int64)) (position, error) {
	x.updating.Lock()
	defer x.updating.Unlock()
	for try := 0; ; try++ {
		err := x.present(ctx)
		if err == nil {
			err = x.update(ctx, progress)
		}
		if err == nil {
			return position{x.path, x.writer.state.Events}, nil
		}
		if ctx.Err() != nil || try >= 2 && !errors.Is(err, errElsewhere) {
			return position{}, explained(err)
		}
		_, full := errors.AsType[*DiskError](explained(err))
		switch {
		case full:
			err = x.roam(ctx, err)
		case errors.Is(err, audit.ErrReplaced):
			err = x.writer.reset(ctx)
		case unusable(err):
			err = x.reopen(ctx, err)
		case errors.Is(err, errElsewhere):
			try--
			err = nil
		}
		if err != nil {
			return position{}, explained(err)
		}
	}
}

// present opens the file again when it has gone, or another one has taken its place.
func (x *Index) present(ctx context.Context) error {
	if x.writer != nil && !x.writer.replaced(x.path) {
		return nil
	}
	return x.reopen(ctx, nil)
}

// Rebuild makes the index anew from the whole log.
func (x *Index) Rebuild(ctx context.Context, progress func(done, total int64)) error {
	x.updating.Lock()
	err := x.present(ctx)
	if err == nil {
		if err = x.writer.reset(ctx); err != nil && unusable(err) {
			err = x.reopen(ctx, err)
		}
	}
	x.updating.Unlock()
	if err != nil {
		return explained(err)
	}
	return x.Update(ctx, progress)
}

// discard empties the index after cause, which a question to a file met. Another question
// may have met it too, and have made another file.
func (x *Index) discard(ctx context.Context, cause error, file os.FileInfo) error {
	x.updating.Lock()
	defer x.updating.Unlock()
	if x.writer != nil && file != nil && !os.SameFile(file, x.writer.file) {
		x.dropIdle()
		return nil
	}
	if errors.Is(cause, errStale) && x.writer != nil {
		return x.writer.reset(ctx)
	}
	return x.reopen(ctx, cause)
}

// errElsewhere says that another process has taken events meanwhile.
var errElsewhere = errors.New("another process has written to the index")

func (x *Index) update(ctx context.Context, progress func(done, total int64)) error {
	w := x.writer
	if err := w.load(ctx); err != nil {
		return err
	}
	now, err := w.lookAt(x.log)
	if err != nil {
		return err
	}
	if now == w.looked && now != "" {
		return nil // nothing has changed since the last update
	}
	total := int64(0)
	if progress != nil {
		total = Size(x.log)
	}
	// One goroutine reads and checks, this one writes.
	ctx, cancel := context.WithCancel(ctx)
	batches := make(chan batch, 1)
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer close(batches)
		cp := w.checkpoint
		for {
			b := readBatch(ctx, x.log, cp)
			cp = b.to
			select {
			case batches <- b:
			case <-ctx.Done():
				return
			}
			if b.over || b.err != nil {
				return
			}
		}
	}()
	defer func() { cancel(); <-done }()
	for over := false; !over; {
		if over, err = w.take(ctx, batches); err != nil {
			return err
		}
		if progress != nil {
			progress(min(w.bytes(), total), total)
		}
	}
	w.looked = now
	return nil
}

// Size returns the bytes of all segments of the log in dir.
func Size(dir string) (n int64) {
	paths, _ := filepath.Glob(filepath.Join(dir, "audit-*.jsonl"))
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil {
			n += info.Size()
		}
	}
	return n
}

// Behind returns how many bytes of the log the index has not taken yet.
func (x *Index) Behind(ctx context.Context) (int64, error) {
	x.updating.Lock()
	defer x.updating.Unlock()
	err := x.present(ctx)
	if err == nil {
		if err = x.writer.load(ctx); err != nil && unusable(err) {
			if err = x.reopen(ctx, err); err == nil {
				err = x.writer.load(ctx)
			}
		}
	}
	if err != nil {
		return 0, explained(err)
	}
	return max(0, Size(x.log)-x.writer.bytes()), nil
}

// writer is the connection that writes, and what it knows of the index.
type writer struct {
	*conn
	checkpoint audit.Checkpoint
	stored     []byte // the checkpoint as it is in the file
	state      State
	passed     int64  // lines before the last event that are not events
	blocks     int64  // that are packed
	looked     string // what the log looked like after the last update

	names    map[nameKey]int64
	shapes   map[[16]byte]int64
	codesets map[string]int64
	rows     []*row           // of the batch
	open     map[int64]*row   // allowed statements of the batch without an end, by query
	byRun    map[int64][]*row // the same, by run
}

type nameKey struct {
	kind nameKind
	text string
}

func newWriter(ctx context.Context, path string) (*writer, error) {
	c, err := connect(path, writerCache)
	if err != nil {
		return nil, err
	}
	w := &writer{conn: c}
	w.forgetNames()
	if err := c.prepare(ctx); err != nil {
		return nil, errors.Join(err, c.close())
	}
	return w, nil
}

func (w *writer) close() error {
	if w == nil {
		return nil
	}
	return w.conn.close()
}

func (w *writer) forgetNames() {
	w.names, w.shapes, w.codesets = map[nameKey]int64{}, map[[16]byte]int64{}, map[string]int64{}
}

// load reads the checkpoint, which another process may have moved.
func (w *writer) load(ctx context.Context) error {
	data, err := w.value(ctx, "checkpoint")
	if err != nil || w.stored != nil && bytes.Equal(data, w.stored) {
		return err
	}
	w.forgetNames()
	w.checkpoint, w.state, w.looked, w.passed = audit.Checkpoint{}, State{}, "", 0
	if len(data) > 0 {
		if w.passed, err = w.number(ctx, `SELECT value FROM meta WHERE key = 'passed'`); err != nil {
			return err
		}
		state, err := w.value(ctx, "state")
		if err := errors.Join(err, json.Unmarshal(data, &w.checkpoint), json.Unmarshal(state, &w.state)); err != nil {
			return errors.Join(errDamaged, err)
		}
	}
	if w.blocks, err = w.number(ctx, `SELECT coalesce(max(block) + 1, 0) FROM pack`); err != nil {
		return err
	}
	w.stored = append([]byte{}, data...)
	return nil
}

// reset empties the index.
func (w *writer) reset(ctx context.Context) error {
	w.stored = nil
	w.forgetNames()
	return w.transaction(ctx, func() error { return w.clear(ctx) })
}

// bytes returns how much of the log has been taken.
func (w *writer) bytes() int64 {
	n := w.checkpoint.Offset
	for _, seg := range w.checkpoint.Report.Segments {
		n += seg.Bytes
	}
	return n
}

// lookAt describes the files of the log, so that two looks are equal when nothing
// was written between them.
func (w *writer) lookAt(dir string) (string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, e := range entries {
		if name := e.Name(); name != "anchor.json" && !strings.HasPrefix(name, "audit-") {
			continue
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return "", nil // it changes now
		}
		if err != nil {
			return "", err
		}
		b.WriteString(info.Name())
		for _, n := range []int64{info.Size(), info.ModTime().UnixNano()} {
			b.WriteByte(' ')
			b.WriteString(strconv.FormatInt(n, 36))
		}
		b.WriteByte('\n')
	}
	return b.String(), nil
}

// take writes some batches in one transaction. It reports whether the log has no more.
func (w *writer) take(ctx context.Context, batches <-chan batch) (over bool, err error) {
	err = w.transaction(ctx, func() error {
		data, err := w.value(ctx, "checkpoint")
		if err != nil {
			return err
		}
		if !bytes.Equal(data, w.stored) {
			return errElsewhere
		}
		for range maxBatches {
			b, more := <-batches
			if !more {
				return ctx.Err()
			}
			if b.err != nil {
				return b.err
			}
			if err := w.batch(ctx, b); err != nil {
				return err
			}
			if over = b.over; over {
				break
			}
		}
		checkpoint, err := json.Marshal(w.checkpoint)
		if err != nil {
			return err
		}
		state, err := json.Marshal(w.state)
		if err != nil {
			return err
		}
		w.stored = checkpoint
		return errors.Join(w.setValue(ctx, "checkpoint", checkpoint), w.setValue(ctx, "state", state),
			w.setValue(ctx, "passed", strconv.AppendInt(nil, w.passed, 10)))
	})
	if err != nil {
		w.stored = nil // what is known of the index is read again
		w.forgetNames()
	}
	return over, err
}

// batch writes one batch.
func (w *writer) batch(ctx context.Context, b batch) error {
	w.rows, w.open, w.byRun = nil, map[int64]*row{}, map[int64][]*row{}
	for i := range b.events {
		if err := w.event(ctx, &b.events[i]); err != nil {
			return err
		}
	}
	if err := w.flush(ctx); err != nil {
		return err
	}
	w.checkpoint = b.to
	w.passed += b.bad
	w.state.BadLines, w.state.Report = w.passed+b.tail, b.report
	return nil
}

// row is a statement that is not written yet.
type row struct {
	n                                                      int64
	time, status, principal, client, connection            int64
	shape, codes                                           int64
	ended                                                  bool
	rows                                                   int64
	ms                                                     float64
	latency, session, address, reason, verdict, query, run int64
	open                                                   bool
	seq, segment, place, hash, bytes                       int64
	end, endType, endTime, endSeq, endSegment, endPlace    int64
	endHash, endBytes                                      int64
	list                                                   codeset
	stored                                                 bool // an earlier batch wrote it
}

// event takes one event.
func (w *writer) event(ctx context.Context, e *taken) error {
	w.state.Events++
	n := w.state.Events
	switch e.Type { //nolint:exhaustive // all others are taken alike
	case audit.QueryDecision:
		r, err := w.newRow(ctx, n, e)
		if err != nil {
			return err
		}
		r.seq, r.segment, r.place, r.hash, r.bytes = e.Seq, e.segment, e.offset, e.hash, e.bytes
		status := audit.StatusRefused
		if e.Decision.Verdict == audit.VerdictAllow {
			status = audit.StatusUnfinished
			r.open = true
			if err := w.running(ctx, r); err != nil {
				return err
			}
		}
		r.status, err = w.name(ctx, nameStatus, status)
		w.rows = append(w.rows, r)
		return err
	case audit.QueryFinished, audit.QueryCancelled:
		return w.ended(ctx, n, e)
	case audit.GatewayCrashed:
		if err := w.crashed(ctx, n, e); err != nil {
			return err
		}
	}
	kind, err := w.name(ctx, nameType, string(e.Type))
	if err != nil {
		return err
	}
	return w.run(ctx, `INSERT INTO event VALUES (?, ?, ?, ?, ?)`, n, kind, nanos(e.Time), e.bytes, e.Log.Lost)
}

// newRow makes the row of a statement from its decision, or from its outcome alone.
func (w *writer) newRow(ctx context.Context, n int64, e *taken) (*row, error) {
	r := &row{n: n, time: nanos(e.Time), latency: e.Decision.LatencyUS, query: textNumber(e.QueryID), list: codeset{Decision: e.Decision.Codes}}
	for _, f := range []struct {
		to   *int64
		kind nameKind
		text string
	}{
		{&r.principal, namePrincipal, e.Principal},
		{&r.client, nameClient, e.Client.Name},
		{&r.connection, nameConnection, e.Connection.ID},
		{&r.session, nameSession, e.Session},
		{&r.address, nameAddress, e.Client.Address},
		{&r.reason, nameReason, e.Reason},
		{&r.verdict, nameVerdict, e.Decision.Verdict},
		{&r.run, nameRun, e.Process.Run},
	} {
		var err error
		if *f.to, err = w.name(ctx, f.kind, f.text); err != nil {
			return nil, err
		}
	}
	var err error
	if r.codes, err = w.codeset(ctx, r.list); err != nil {
		return nil, err
	}
	r.shape, err = w.shape(ctx, e.SQL)
	return r, err
}

// running notes an allowed statement that has no end yet.
func (w *writer) running(ctx context.Context, r *row) error {
	if old := w.open[r.query]; old != nil {
		old.open = false
	} else if err := w.forgetOpen(ctx, r.query); err != nil {
		return err
	}
	w.open[r.query] = r
	w.byRun[r.run] = append(w.byRun[r.run], r)
	return nil
}

// forgetOpen ends the wait for the end of an earlier statement with the same id.
func (w *writer) forgetOpen(ctx context.Context, query int64) error {
	return w.run(ctx, `UPDATE statement SET open = 0 WHERE query = ? AND open <> 0`, query)
}

// ended joins an outcome with its decision.
func (w *writer) ended(ctx context.Context, n int64, e *taken) error {
	query := textNumber(e.QueryID)
	r := w.open[query]
	if r == nil {
		found, err := w.waitingFor(ctx, query)
		if err != nil {
			return err
		}
		r = found
	}
	if r == nil {
		var err error
		if r, err = w.newRow(ctx, n, e); err != nil {
			return err
		}
		w.rows = append(w.rows, r)
	}
	delete(w.open, query)
	if err := w.end(ctx, r, n, e); err != nil {
		return err
	}
	status := e.Result.Status
	if r.segment == 0 {
		status = audit.StatusUndecided
	}
	var err error
	if r.status, err = w.name(ctx, nameStatus, status); err != nil {
		return err
	}
	if r.ended = e.Result.Status != ""; r.ended {
		r.rows, r.ms = e.Result.Rows, e.Result.ExecMS
	}
	r.list.Result = e.Result.Code
	r.codes, err = w.codeset(ctx, r.list)
	return err
}

// end notes the event that ends a statement.
func (w *writer) end(ctx context.Context, r *row, n int64, e *taken) error {
	r.open = false
	r.end, r.endTime, r.endSeq, r.endSegment, r.endPlace, r.endHash, r.endBytes =
		n, nanos(e.Time), e.Seq, e.segment, e.offset, e.hash, e.bytes
	var err error
	r.endType, err = w.name(ctx, nameType, string(e.Type))
	return err
}

// waitingFor returns the stored statement that waits for the end of a query, or nil.
func (w *writer) waitingFor(ctx context.Context, query int64) (*row, error) {
	list, err := w.loadOpen(ctx, `query = ?`, query)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return list[len(list)-1], nil
}

// loadOpen returns the stored statements that wait for their end, and notes that they
// are taken. They are written again with the batch.
func (w *writer) loadOpen(ctx context.Context, where string, arg int64) (list []*row, err error) {
	err = w.each(ctx, `SELECT n, time, principal, client, connection, shape, codes, latency, session, address, reason, verdict, query, run,
		seq, segment, place, hash, bytes FROM statement WHERE open <> 0 AND `+where+` ORDER BY n`, []any{arg}, func(s *sqlite3.Stmt) bool {
		r := &row{open: true, stored: true}
		for i, to := range []*int64{
			&r.n, &r.time, &r.principal, &r.client, &r.connection, &r.shape, &r.codes, &r.latency, &r.session, &r.address, &r.reason, &r.verdict,
			&r.query, &r.run, &r.seq, &r.segment, &r.place, &r.hash, &r.bytes,
		} {
			*to = s.ColumnInt64(i)
		}
		list = append(list, r)
		return true
	})
	if err != nil || len(list) == 0 {
		return nil, err
	}
	if err := w.run(ctx, `UPDATE statement SET open = 0 WHERE open <> 0 AND `+where, arg); err != nil {
		return nil, err
	}
	for _, r := range list {
		if err := w.each(ctx, `SELECT key FROM codeset WHERE id = ?`, []any{r.codes}, func(s *sqlite3.Stmt) bool {
			err = s.ColumnJSON(0, &r.list)
			return false
		}); err != nil {
			return nil, err
		}
		if err != nil {
			return nil, err
		}
		w.rows = append(w.rows, r)
	}
	return list, nil
}

// crashed ends the statements that a crashed process left without an end.
func (w *writer) crashed(ctx context.Context, n int64, e *taken) error {
	run, err := w.name(ctx, nameRun, e.Process.Run)
	if err != nil || run == 0 {
		return err
	}
	list := w.byRun[run]
	stored, err := w.loadOpen(ctx, `run = ?`, run)
	if err != nil {
		return err
	}
	status, err := w.name(ctx, nameStatus, audit.StatusCrashed)
	if err != nil {
		return err
	}
	for _, r := range append(list, stored...) {
		if !r.open {
			continue // it has ended, or a later statement has its id
		}
		if w.open[r.query] == r {
			delete(w.open, r.query)
		}
		if err := w.end(ctx, r, n, e); err != nil {
			return err
		}
		r.status, r.ended = status, true
	}
	delete(w.byRun, run)
	return nil
}

// flush writes the statements of the batch.
func (w *writer) flush(ctx context.Context) error {
	if len(w.rows) == 0 {
		return nil
	}
	first, last, earliest, latest := int64(math.MaxInt64), int64(0), int64(math.MaxInt64), int64(math.MinInt64)
	for _, r := range w.rows {
		if !r.stored {
			first, last, earliest, latest = min(first, r.n), max(last, r.n), min(earliest, r.time), max(latest, r.time)
		}
		var rows, ms any
		if r.ended {
			rows, ms = r.rows, r.ms
		}
		open := 0
		if r.open {
			open = 1
		}
		if err := w.run(ctx, `INSERT OR REPLACE INTO statement VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)`,
			r.n, r.time, r.status, r.principal, r.client, r.connection, r.shape, r.codes, rows, ms, r.latency,
			r.session, r.address, r.reason, r.verdict, r.query, r.run, open,
			r.seq, r.segment, r.place, r.hash, r.bytes,
			r.end, r.endType, r.endTime, r.endSeq, r.endSegment, r.endPlace, r.endHash, r.endBytes); err != nil {
			return err
		}
	}
	if last != 0 {
		if err := w.run(ctx, `INSERT INTO span VALUES (?, ?, ?, ?)`, first, last, earliest, latest); err != nil {
			return err
		}
	}
	return w.packBlocks(ctx)
}

// nanos returns a time as nanoseconds, within what they can express.
func nanos(t time.Time) int64 {
	switch {
	case t.Year() < 1700:
		return math.MinInt64
	case t.Year() > 2250:
		return math.MaxInt64
	default:
		return t.UnixNano()
	}
}

// lineNumber returns a number that stands for a line, whatever it claims to be.
func lineNumber(line []byte) int64 {
	sum := sha256.Sum256(line)
	return int64(binary.BigEndian.Uint64(sum[:8])) //nolint:gosec // all bits are kept
}

// textNumber returns a number that stands for text, and 0 for no text.
func textNumber(text string) int64 {
	if text == "" {
		return 0
	}
	sum := sha256.Sum256([]byte(text))
	return int64(binary.BigEndian.Uint64(sum[:8])) | 1 //nolint:gosec // all bits are kept
}

// Run looks at the log again after followEvery, and after a long update only after
// followShare times as long, so that statements keep the processor. longestPause bounds
// what is left for the first reader, who brings the index up to date by itself.
const (
	followEvery  = time.Second
	followShare  = 19
	longestPause = 30 * time.Second
)

// pause returns how long Run waits after an update that took so long.
func pause(update time.Duration) time.Duration {
	return min(max(followEvery, followShare*update), longestPause)
}

// Run follows the log until ctx ends. failed, which may be nil, gets every error once,
// until an update succeeds, a [RemadeError] when the index was damaged, and a [MovedError]
// when it cannot be written where it should be.
func (x *Index) Run(ctx context.Context, failed func(error)) {
	last := ""
	var remade *RemadeError
	var moved *MovedError
	for {
		start := time.Now()
		err := x.Update(ctx, nil)
		took := time.Since(start)
		if now := x.moved.Load(); now != moved && failed != nil {
			moved = now
			failed(now)
		}
		if now := x.remade.Load(); now != remade && failed != nil {
			remade = now
			failed(now)
		}
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			last = ""
		case err.Error() != last:
			if last = err.Error(); failed != nil {
				failed(err)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause(took)):
		}
	}
}
