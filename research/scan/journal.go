package scan

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/ktxhq/ktx/execution/filelock"
	"github.com/ktxhq/ktx/research/catalog"
	"github.com/ktxhq/ktx/research/scan/relate"
)

// journal keeps what a scan has finished, so that the next one goes on from there. It
// is a file of JSON lines: a header, then one line for each table and each probe. A
// process that is killed leaves at most its last line incomplete.
type journal struct {
	header  header
	resumed bool

	mu     sync.Mutex
	file   *os.File
	tables map[catalog.Ref]*tableProfile
	probes map[string]relate.Overlap
}

// header is the first line of a journal.
type header struct {
	Format  int       `json:"format"`
	Options string    `json:"options"` // a hash of what the results depend on
	SyncID  string    `json:"syncId"`
	RunID   string    `json:"runId"`
	Started time.Time `json:"started"`
}

// newHeader returns the header of a run that begins now.
func newHeader(options string, now time.Time, run string) header {
	return header{Format: journalFormat, Options: options, SyncID: now.UTC().Format(syncLayout) + run, RunID: run, Started: now.UTC()}
}

// runID is what the id of a run looks like. It is a part of the name of a folder.
var runID = regexp.MustCompile(`^[a-zA-Z0-9]{1,64}$`)

// valid reports whether the id of the scan is one that newHeader makes.
func (h *header) valid() bool {
	return runID.MatchString(h.RunID) && h.SyncID == newHeader("", h.Started, h.RunID).SyncID && !strings.ContainsAny(h.SyncID, `/\`)
}

// entry is another line of a journal. One of its fields is set.
type entry struct {
	Table *tableProfile `json:"table,omitempty"`
	Probe *probeEntry   `json:"probe,omitempty"`
}

type probeEntry struct {
	Key     string         `json:"key"`
	Overlap relate.Overlap `json:"overlap"`
}

// journalFormat is the version of the file. A journal of another version is not used.
const journalFormat = 2

// maxJournalAge is how old a journal may be. What an older one has may no longer be
// true.
const maxJournalAge = 24 * time.Hour

// maxJournalLine bounds a line: a table of 1,600 columns with sample values.
const maxJournalLine = 64 << 20

func journalName(connection string) string {
	return path.Join(stateFolder, connection, "journal.jsonl")
}

// errRunning says that another process scans the connection.
var errRunning = errors.New("another scan of this connection is running; wait until it has ended")

// openJournal opens the journal of a connection. A journal of other options, of
// another version or of a time too long ago is begun again.
func openJournal(root *os.Root, connection string, want header) (*journal, error) {
	if err := root.MkdirAll(path.Join(stateFolder, connection), 0o700); err != nil {
		return nil, fmt.Errorf("make the folder for the state of the scan: %w", err)
	}
	f, err := root.OpenFile(journalName(connection), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the state of the scan: %w", err)
	}
	free, err := filelock.TryLock(f)
	if err == nil && !free {
		err = errRunning
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open the state of the scan: %w", err), f.Close())
	}
	j := &journal{file: f, tables: map[catalog.Ref]*tableProfile{}, probes: map[string]relate.Overlap{}}
	good, err := j.read(want)
	if err == nil {
		err = j.cut(good)
	}
	if err == nil && !j.resumed {
		j.header = want
		err = j.write(want)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("read the state of the scan: %w", err), f.Close())
	}
	return j, nil
}

// read reads the lines that are whole, and returns where they end. A journal that does
// not fit is empty.
func (j *journal) read(want header) (good int64, err error) {
	r := bufio.NewReaderSize(j.file, 1<<20)
	for {
		line, err := readLine(r)
		if errors.Is(err, io.EOF) || errors.Is(err, errTooLarge) {
			return good, nil
		}
		if err != nil {
			return 0, err
		}
		if !j.resumed {
			var h header
			if json.Unmarshal(line, &h) != nil || h.Format != want.Format || h.Options != want.Options || !h.valid() ||
				want.Started.Sub(h.Started).Abs() > maxJournalAge {
				return 0, nil //nolint:nilerr // a journal that does not fit is begun again
			}
			j.header, j.resumed = h, true
		} else {
			var e entry
			if json.Unmarshal(line, &e) != nil {
				return good, nil //nolint:nilerr // the rest of the journal is not used
			}
			j.keep(e)
		}
		good += int64(len(line))
	}
}

// readLine returns a line with its end. A line without an end is not whole.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case err == nil:
			return line, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		case len(line) > maxJournalLine:
			return nil, errTooLarge
		}
	}
}

// cut removes what follows the lines that are whole.
func (j *journal) cut(at int64) error {
	if err := j.file.Truncate(at); err != nil {
		return err
	}
	_, err := j.file.Seek(at, io.SeekStart)
	return err
}

func (j *journal) keep(e entry) {
	switch {
	case e.Table != nil:
		j.tables[e.Table.Table] = e.Table
	case e.Probe != nil:
		j.probes[e.Probe.Key] = e.Probe.Overlap
	}
}

// add keeps an entry, in memory and in the file.
func (j *journal) add(e entry) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.keep(e)
	return j.write(e)
}

// write appends one line with one call, so that a process that is killed leaves a
// whole line or the beginning of one.
func (j *journal) write(v any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return fmt.Errorf("write the state of the scan: %w", err)
	}
	if _, err := j.file.Write(b.Bytes()); err != nil {
		return fmt.Errorf("write the state of the scan: %w", err)
	}
	return nil
}

// table returns what is kept of a table, nil if there is nothing or if the table has
// changed since.
func (j *journal) table(t *table) *tableProfile {
	j.mu.Lock()
	defer j.mu.Unlock()
	if p := j.tables[t.Ref()]; p != nil && p.Identity == t.identity() {
		return p
	}
	return nil
}

func (j *journal) probe(key string) (relate.Overlap, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	o, ok := j.probes[key]
	return o, ok
}

// close closes the file. It stays for the next scan.
func (j *journal) close() error { return j.file.Close() }

// finish empties the file and closes it. The file stays, because it is the lock of the
// connection.
func (j *journal) finish() error { return errors.Join(j.file.Truncate(0), j.file.Close()) }

// identity is a hash of the structure of a table, without what changes with its rows.
func (t *table) identity() string {
	plain := t.Table
	plain.EstimatedRows = nil
	text, err := json.Marshal(struct {
		Table    catalog.Table
		Readable []bool
	}{plain, t.readable()})
	if err != nil { // strings, numbers and lists only
		return ""
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}

func (t *table) readable() []bool {
	out := make([]bool, len(t.columns))
	for i, c := range t.columns {
		out[i] = c.readable
	}
	return out
}
