package dictionary

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/ktxhq/ktx/research/catalog"
	"github.com/ktxhq/ktx/research/rank"
)

// The limits of what a [Writer] keeps. Values beyond them are left out, the rarest
// first, and their column is then not complete.
const (
	MaxColumnValues    = 50_000
	MaxColumnBytes     = 8 << 20
	MaxConnectionBytes = 256 << 20
	// MaxValueBytes bounds one value. Nobody looks up longer texts by their spelling.
	MaxValueBytes = maxValue
)

// Value is a distinct value of a column.
type Value struct {
	Text  string
	Count int64 // how many rows have it, as far as the scan has seen
}

// A Writer keeps the values of one scan. Nothing of it is visible to a [Store]
// before [Writer.Commit]. What [Writer.Finish] has written stays when the process
// ends, so that the next Writer of the same scan goes on from there. A Writer is
// safe for concurrent use.
type Writer struct {
	root *os.Root
	dir  string // of the scan

	mu        sync.Mutex
	perColumn int
	open      map[catalog.Ref][]record
	finished  map[catalog.Ref]int64 // bytes of the texts of each table on disk
	used      int64                 // bytes of all texts, on disk and in open
	committed []record              // of a file that an earlier Writer has committed
	warnings  []string
	closed    bool
}

// valuesDir returns the folder of the values of a scan.
func valuesDir(connectionID, syncID string) (string, error) {
	for _, name := range []string{connectionID, syncID} {
		if name == "" || name == "." || !filepath.IsLocal(name) || strings.ContainsAny(name, `/\`) {
			return "", fmt.Errorf("%q cannot be the name of a folder", name)
		}
	}
	return path.Join(".ktx", "values", connectionID, syncID), nil
}

const (
	valuesFile = "values"
	partsDir   = "parts"
	temporary  = ".tmp"
)

// NewWriter returns a writer of the values of a scan. Root is the folder of the
// project.
func NewWriter(root *os.Root, connectionID, syncID string) (*Writer, error) {
	dir, err := valuesDir(connectionID, syncID)
	if err != nil {
		return nil, fmt.Errorf("write values: %w", err)
	}
	if err := root.MkdirAll(path.Join(dir, partsDir), 0o700); err != nil {
		return nil, fmt.Errorf("write values: %w", err)
	}
	w := &Writer{root: root, dir: dir, perColumn: MaxColumnValues, open: map[catalog.Ref][]record{}, finished: map[catalog.Ref]int64{}}
	if err := w.resume(); err != nil {
		return nil, fmt.Errorf("write values: %w", err)
	}
	return w, nil
}

// resume learns which tables earlier writers of the scan have finished. It removes
// what is damaged, so that the scan reads these tables again.
func (w *Writer) resume() error {
	if body, err := w.read(path.Join(w.dir, valuesFile)); err == nil {
		w.committed = body
		for i := range body {
			w.finished[body[i].table] += body[i].textBytes()
		}
	} else if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errDamaged) {
		return err
	}
	parts, err := w.parts()
	if err != nil {
		return err
	}
	for _, name := range parts {
		list, err := w.read(name)
		switch {
		case errors.Is(err, errDamaged) || err == nil && len(list) == 0:
			if err := w.root.Remove(name); err != nil {
				return err
			}
			continue
		case err != nil:
			return err
		}
		size := int64(0)
		for i := range list {
			size += list[i].textBytes()
		}
		w.finished[list[0].table] = size
	}
	for _, size := range w.finished {
		w.used += size
	}
	return nil
}

// parts returns the names of the files of finished tables, sorted.
func (w *Writer) parts() ([]string, error) {
	entries, err := fs.ReadDir(w.root.FS(), path.Join(w.dir, partsDir))
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), temporary) {
			names = append(names, path.Join(w.dir, partsDir, e.Name()))
		}
	}
	return names, nil
}

// read returns the columns of a file.
func (w *Writer) read(name string) ([]record, error) {
	b, err := readLimited(w.root, name)
	if err != nil {
		return nil, err
	}
	h, body, err := readFile(b)
	if err != nil {
		return nil, err
	}
	if h.folding != folding() {
		return nil, fmt.Errorf("%w: it was written by another version of ktx", errDamaged)
	}
	return columns(body)
}

// textBytes returns how much of the connection's budget the column uses.
func (r *record) textBytes() int64 {
	n := int64(0)
	_ = r.each(func(v value) error {
		n += int64(len(v.text))
		return nil
	})
	return n
}

// Limit sets how many values a column may have, if that is less than
// [MaxColumnValues].
func (w *Writer) Limit(perColumn int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if perColumn > 0 {
		w.perColumn = min(perColumn, MaxColumnValues)
	}
}

// Column adds the values of a column. Distinct is the true number of distinct
// values, or -1 if it is not known. Complete says that values holds all of them.
// When the budget of the connection runs low, each further column gets a smaller
// share of what is left.
func (w *Writer) Column(table catalog.Ref, column string, values []Value, distinct int64, complete bool) error {
	for _, name := range []string{table.Catalog, table.DB, table.Name, column} {
		if len(name) > maxName || !utf8.ValidString(name) {
			return fmt.Errorf("write values of %q: the name is not UTF-8, or longer than %d bytes", table.Name, maxName)
		}
	}
	r := record{table: table, column: column, distinct: distinct, complete: complete}
	list := slices.Clone(values)
	slices.SortStableFunc(list, func(a, b Value) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Text, b.Text))
	})
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return fmt.Errorf("write values of %q: the writer is closed", table.Name)
	}
	const shares = 16 // of what is left of the connection's budget, a column gets one
	budget := min(MaxColumnBytes, (MaxConnectionBytes-w.used)/shares)
	for _, v := range list {
		if len(v.Text) > MaxValueBytes || !utf8.ValidString(v.Text) {
			r.complete = false
			continue
		}
		folded := fold(v.Text)
		if folded == "" { // an empty value cannot be looked up
			continue
		}
		if r.count == w.perColumn || int64(len(v.Text)) > budget {
			r.complete = false
			break
		}
		r.values = appendValue(r.values, v.Text, folded, codeOf(rank.FoldCode(v.Text)))
		r.count++
		budget -= int64(len(v.Text))
		w.used += int64(len(v.Text))
	}
	w.open[table] = append(w.open[table], r)
	return nil
}

// Finished reports whether the values of the table are on disk.
func (w *Writer) Finished(table catalog.Ref) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, ok := w.finished[table]
	return ok
}

// Finish writes the columns of a table to disk. It replaces what an earlier Writer
// has written of the table. A table without columns of values is finished too.
func (w *Writer) Finish(table catalog.Ref) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.finish(table)
}

func (w *Writer) finish(table catalog.Ref) error {
	list := w.open[table]
	if len(list) == 0 {
		list = []record{{table: table, distinct: -1, complete: true}} // a part has a column, so that its table is known
	}
	slices.SortStableFunc(list, func(a, b record) int { return strings.Compare(a.column, b.column) })
	list = lastOfEach(list)
	var body []byte
	size := int64(0)
	for i := range list {
		body = list[i].append(body)
		size += list[i].textBytes()
	}
	name := path.Join(w.dir, partsDir, partName(table))
	if err := w.write(name, func(add func([]byte) error) error { return add(body) }); err != nil {
		return fmt.Errorf("write values of %q: %w", table.Name, err)
	}
	w.used -= w.finished[table]
	w.finished[table] = size
	delete(w.open, table)
	return nil
}

// lastOfEach keeps the last of several records of one column.
func lastOfEach(list []record) []record {
	out := list[:0]
	for i := range list {
		if i+1 == len(list) || list[i+1].column != list[i].column {
			out = append(out, list[i])
		}
	}
	return out
}

// partName returns the name of the file of a table.
func partName(table catalog.Ref) string {
	text, err := json.Marshal([]string{table.Catalog, table.DB, table.Name})
	if err != nil { // strings can always be marshalled
		text = []byte(table.Name)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}

// Warnings says which finished tables could not be read again, and are missing from
// what [Writer.Commit] has written.
func (w *Writer) Warnings() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.warnings)
}

// Commit makes the values visible, all at once: it finishes the tables that are not
// finished yet, joins all tables in one file, and closes the writer.
func (w *Writer) Commit() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return errors.New("write values: the writer is closed")
	}
	tables := make([]catalog.Ref, 0, len(w.open))
	for table := range w.open {
		tables = append(tables, table)
	}
	slices.SortFunc(tables, compareTables)
	for _, table := range tables {
		if err := w.finish(table); err != nil {
			return err
		}
	}
	if err := w.join(); err != nil {
		return fmt.Errorf("write values: %w", err)
	}
	w.closed = true
	w.committed = nil
	if err := w.root.RemoveAll(path.Join(w.dir, partsDir)); err != nil {
		return fmt.Errorf("write values: %w", err)
	}
	return nil
}

// Close ends the writer. Finished tables stay for the next writer of the scan, and
// the others are given up. After [Writer.Commit] it does nothing.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	clear(w.open)
	return nil
}

// join writes one file with all tables.
func (w *Writer) join() error {
	tables := make([]catalog.Ref, 0, len(w.finished))
	for table := range w.finished {
		tables = append(tables, table)
	}
	slices.SortFunc(tables, compareTables)
	return w.write(path.Join(w.dir, valuesFile), func(add func([]byte) error) error {
		var buffer []byte
		for _, table := range tables {
			list, err := w.read(path.Join(w.dir, partsDir, partName(table)))
			if errors.Is(err, fs.ErrNotExist) { // it is of the file that was committed before
				from, _ := slices.BinarySearchFunc(w.committed, table, func(r record, t catalog.Ref) int { return compareTables(r.table, t) })
				list = w.committed[from:]
				to := slices.IndexFunc(list, func(r record) bool { return r.table != table })
				if to >= 0 {
					list = list[:to]
				}
				err = nil
			}
			if errors.Is(err, errDamaged) {
				w.warnings = append(w.warnings, fmt.Sprintf("the values of %s are missing: %v", table.Name, err))
				continue
			}
			if err != nil {
				return err
			}
			for i := range list {
				buffer = list[i].append(buffer[:0])
				if err := add(buffer); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// Prune removes the values of all scans of a connection that keep does not want.
func Prune(root *os.Root, connectionID string, keep func(syncID string) bool) error {
	dir, err := valuesDir(connectionID, "any")
	if err != nil {
		return fmt.Errorf("remove values: %w", err)
	}
	dir = path.Dir(dir)
	entries, err := fs.ReadDir(root.FS(), dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("remove values: %w", err)
	}
	for _, e := range entries {
		if keep(e.Name()) {
			continue
		}
		if err := root.RemoveAll(path.Join(dir, e.Name())); err != nil {
			return fmt.Errorf("remove values: %w", err)
		}
	}
	return nil
}

// perColumnOf returns a limit as the header of a file has it.
func perColumnOf(n int) uint32 { return uint32(min(max(n, 0), math.MaxInt32)) }
