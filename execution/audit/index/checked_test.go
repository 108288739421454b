package index_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/ktxhq/ktx/execution/audit"
	"github.com/ktxhq/ktx/execution/audit/index"
)

// varied appends statements of all kinds to the log in dir.
func varied(t *testing.T, dir string, from, n int) {
	t.Helper()
	log, err := audit.Open(dir, audit.Config{Sync: audit.SyncOff, RotateBytes: 16 << 10}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := from; i < from+n; i++ {
		e := refused(i)
		e.Time = time.Date(2026, 1, 1, 0, i, 0, 0, time.UTC)
		e.Principal, e.Session, e.Client.Name = fmt.Sprintf("p%d", i%3), fmt.Sprintf("s%d", i%5), "cursor"
		e.Connection = audit.Connection{ID: "shop", Dialect: "postgres"}
		end := e
		if i%4 != 0 {
			e.SQL = audit.SQL{Normalized: fmt.Sprintf("SELECT a FROM orders%d WHERE b = ?", i%11), Kind: "select", Fingerprint: fmt.Sprintf("f%d", i%11), Tables: []string{fmt.Sprintf("orders%d", i%11)}, Functions: []string{"count"}}
			e.Decision = audit.Decision{Verdict: audit.VerdictAllow, LatencyUS: int64(i)}
		}
		events := []audit.Event{e}
		if i%4 != 0 && i%7 != 0 {
			end.Type, end.Decision, end.SQL = audit.QueryFinished, audit.Decision{}, audit.SQL{}
			end.Result = audit.Result{Status: audit.StatusOK, Rows: int64(i), ExecMS: float64(i) / 2}
			events = append(events, end)
		}
		for _, e := range events {
			if err := log.Append(t.Context(), e); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
}

// answers is what an index answers to questions that read all its tables.
func answers(ctx context.Context, x *index.Index) (string, error) {
	var all []any
	var failed error
	add := func(v any, err error) { all, failed = append(all, v), errors.Join(failed, err) }
	for _, f := range []audit.Filter{
		{},
		{Principal: "p1"},
		{Session: "s2"},
		{Code: "write_statement"},
		{Table: "orders3"},
		{Function: "count"},
		{Text: "from orders1"},
		{Fingerprint: "f4"},
		{Status: audit.StatusOK},
		{Kind: "drop"},
		{QueryID: "q-0007"},
		{MinRows: 20},
		{Since: time.Date(2026, 1, 1, 0, 10, 0, 0, time.UTC)},
	} {
		page, err := x.Statements(ctx, f, index.Page{Limit: 1000})
		page.State.Remade = nil
		add(page, err)
		counts, err := x.Count(ctx, f)
		counts.State.Remade = nil
		add(counts, err)
	}
	sum, _, err := x.Summarize(ctx, time.Time{}, time.Time{})
	add(sum, err)
	activity, err := x.Activity(ctx, index.Subject{Principal: "p2"})
	activity.State.Remade = nil
	add(activity, err)
	text, err := json.Marshal(all)
	return string(text), errors.Join(failed, err)
}

// left is an index that a process left behind without an end: a part of its write-ahead
// log is in the database already, and after the log lie frames of an earlier one.
func left(t *testing.T) (dir string, db, wal []byte) {
	t.Helper()
	root := t.TempDir()
	dir, path := filepath.Join(root, "audit"), filepath.Join(root, "index.db")
	varied(t, dir, 0, 40)
	x := open(t, dir, path)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	update := func(from, n int) {
		t.Helper()
		varied(t, dir, from, n)
		must(x.Update(t.Context(), nil))
	}
	must(x.Update(t.Context(), nil))
	other, err := index.Connect(path)
	must(err)
	reader, err := index.Connect(path)
	must(err)
	must(other.Run(t.Context(), `PRAGMA wal_checkpoint(restart)`))
	update(40, 1)
	must(reader.Run(t.Context(), `BEGIN`))
	must(reader.Run(t.Context(), `SELECT count(*) FROM statement`))
	update(41, 1)
	must(other.Run(t.Context(), `PRAGMA wal_checkpoint(passive)`))
	update(42, 1)
	db, err = os.ReadFile(path)
	must(err)
	wal, err = os.ReadFile(path + "-wal")
	must(err)
	must(reader.Run(t.Context(), `COMMIT`))
	must(errors.Join(reader.Close(), other.Close()))
	return dir, db, wal
}

// frames returns how many frames of a write-ahead log belong to it.
func frames(wal []byte) (own, all int) {
	for at := index.WALHeader; at+index.FrameHeader+index.PageSize <= len(wal); at += index.FrameHeader + index.PageSize {
		if string(wal[at+8:at+16]) == string(wal[16:24]) {
			own++
		}
		all++
	}
	return own, all
}

// flip is a change of a byte.
type flip struct {
	wal bool
	at  int
	by  byte
}

// flips draws bytes everywhere: in each page of size bytes after the first start ones one
// of its header, the last one and some others, and many of the first ones of the file.
func flips(wal bool, size, start, page, some int) []flip {
	var list []flip
	for at := rand.IntN(3); at < min(size, 100); at += 3 {
		list = append(list, flip{wal, at, 1 << rand.IntN(8)})
	}
	for p := start; p+page <= size; p += page {
		places := []int{rand.IntN(100), page - 1}
		for range some {
			places = append(places, rand.IntN(page))
		}
		for _, at := range places {
			list = append(list, flip{wal, p + at, byte(1 + rand.IntN(255))})
		}
	}
	return list
}

// TestEveryChangedByte changes bytes everywhere in the files of an index. Each one is
// noticed, or nobody reads it; the answers are those of the log, before and after another
// event.
func TestEveryChangedByte(t *testing.T) {
	t.Cleanup(index.SetSizes(8, 5))
	some := 1
	if testing.Short() {
		some = 0
	}
	dir, db, wal := left(t)
	closed := filepath.Join(t.TempDir(), "index.db")
	x, err := index.Open(t.Context(), dir, closed)
	if err != nil {
		t.Fatal(err)
	}
	want, err := answers(t.Context(), x)
	if err = errors.Join(err, x.Close()); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(closed)
	if err != nil {
		t.Fatal(err)
	}
	own, all := frames(wal)
	if own == 0 || own == all || len(whole) < 20*index.PageSize {
		t.Fatalf("%d of %d frames, %d bytes: not what the test is about", own, all, len(whole))
	}
	frame := index.FrameHeader + index.PageSize
	end := index.WALHeader + own*frame
	// try changes a byte, asks, and reports whether it was noticed.
	try := func(t *testing.T, db, wal []byte, f flip) bool {
		t.Helper()
		path := filepath.Join(t.TempDir(), "index.db")
		if f.wal {
			wal = slices.Clone(wal)
			wal[f.at] ^= f.by
		} else {
			db = slices.Clone(db)
			db[f.at] ^= f.by
		}
		err := os.WriteFile(path, db, 0o600)
		if err == nil && wal != nil {
			err = os.WriteFile(path+"-wal", wal, 0o600)
		} else if err == nil {
			err = os.WriteFile(path+"-lock", []byte{index.Ended}, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		x, err := index.Open(t.Context(), dir, path)
		if err != nil {
			t.Fatalf("%+v: %v", f, err)
		}
		got, err := answers(t.Context(), x)
		if err != nil || got != want {
			t.Errorf("%+v: another answer, error %v", f, err)
		}
		s, err := x.Check(t.Context())
		if err = errors.Join(err, x.Close()); err != nil {
			t.Errorf("%+v: %v", f, err)
		}
		return s.Remade != nil
	}
	run := func(name string, db, wal []byte, list []flip, must func(flip) bool) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			noticed := 0
			for _, f := range list {
				seen := try(t, db, wal, f)
				if seen {
					noticed++
				}
				if !seen && must(f) {
					t.Errorf("%+v is not noticed", f)
				}
			}
			t.Logf("%d of %d noticed", noticed, len(list))
		})
	}
	// These bytes of the header say which version of an index it is: another one is made
	// anew, and nothing is said.
	identity := func(at int) bool { return at == 20 || at >= 60 && at < 64 || at >= 68 && at < 72 }
	run("of a file", whole, nil, flips(false, len(whole), 0, index.PageSize, some), func(f flip) bool { return !identity(f.at) })
	run("of a log that was left", db, wal, flips(true, len(wal), index.WALHeader, frame, some), func(f flip) bool { return f.at < end })
	run("of a file with a log that was left", db, wal, flips(false, len(db), 0, index.PageSize, some), func(flip) bool { return false })
}

// TestWithoutChecksums shows that the test above can fail: without checksums, SQLite gives
// wrong answers and says nothing.
func TestWithoutChecksums(t *testing.T) {
	defer index.SetChecking(false)()
	root := t.TempDir()
	dir, path := filepath.Join(root, "audit"), filepath.Join(root, "index.db")
	varied(t, dir, 0, 40)
	x, err := index.Open(t.Context(), dir, path)
	if err != nil {
		t.Fatal(err)
	}
	want, err := answers(t.Context(), x)
	if err = errors.Join(err, x.Close()); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for range 500 {
		spoilt := slices.Clone(whole)
		spoilt[index.PageSize+rand.IntN(len(whole)-index.PageSize)] ^= 1 << rand.IntN(8)
		if err := os.WriteFile(path, spoilt, 0o600); err != nil {
			t.Fatal(err)
		}
		if x, err = index.Open(t.Context(), dir, path); err != nil {
			continue
		}
		got, err := answers(t.Context(), x)
		_, cause := x.Remade()
		_ = x.Close()
		if err == nil && cause == nil && got != want {
			return
		}
	}
	t.Error("500 changed bytes gave no wrong answer")
}

// TestEveryBit changes every bit of a page.
func TestEveryBit(t *testing.T) {
	page := make([]byte, index.PageSize)
	for i := range page[:index.PageSize-8] {
		page[i] = byte(rand.IntN(256))
	}
	for _, number := range []int64{1, 2, 77} {
		if n := index.Flips(page, number); n != 0 {
			t.Errorf("page %d: %d changes are not noticed", number, n)
		}
	}
}

// TestEveryByteOfALog changes every byte of the frames' headers of a write-ahead log that a
// process left, and some of the pages.
func TestEveryByteOfALog(t *testing.T) {
	t.Cleanup(index.SetSizes(8, 5))
	_, _, wal := left(t)
	if err := index.CheckLog(wal); err != nil {
		t.Fatalf("the log as it was left: %v", err)
	}
	frame := index.FrameHeader + index.PageSize
	own, _ := frames(wal)
	for at := range index.WALHeader + own*frame {
		if in := (at - index.WALHeader) % frame; at >= index.WALHeader && in >= index.FrameHeader && in%61 != 0 {
			continue
		}
		was := wal[at]
		wal[at] ^= 1 << rand.IntN(8)
		if err := index.CheckLog(wal); !errors.Is(err, index.ErrDamage) {
			t.Errorf("byte %d: %v", at, err)
		}
		wal[at] = was
	}
}

// TestBytesThatChangeUnderAServer changes bytes of the files of an index that is open, in
// one process or several, while the log grows.
func TestBytesThatChangeUnderAServer(t *testing.T) {
	t.Cleanup(index.SetSizes(8, 5))
	root := t.TempDir()
	dir, path := filepath.Join(root, "audit"), filepath.Join(root, "index.db")
	varied(t, dir, 0, 40)
	indexes := []*index.Index{open(t, dir, path), open(t, dir, path)}
	rounds := 25
	if testing.Short() {
		rounds = 5
	}
	for round := range rounds {
		varied(t, dir, 40+round, 1)
		fresh := open(t, dir, filepath.Join(root, fmt.Sprintf("fresh-%d.db", round)))
		want, err := answers(t.Context(), fresh)
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for range 2 {
			for _, x := range indexes {
				wg.Go(func() {
					got, err := answers(t.Context(), x)
					if err != nil || got != want {
						t.Errorf("round %d: another answer, error %v%s", round, err, difference(want, got))
					}
				})
			}
		}
		wg.Wait()
		for _, name := range []string{path, path + "-wal"} {
			f, err := os.OpenFile(name, os.O_RDWR, 0)
			if err != nil {
				t.Fatal(err)
			}
			info, err := f.Stat()
			for range 10 {
				if err == nil && info.Size() > 0 {
					_, err = f.WriteAt([]byte{byte(rand.IntN(256))}, rand.Int64N(info.Size()))
				}
			}
			if err = errors.Join(err, f.Close()); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, cause := indexes[0].Remade(); cause == nil && rounds > 5 {
		if _, cause = indexes[1].Remade(); cause == nil {
			t.Error("nobody noticed anything")
		}
	}
}

// TestADamagedIndexIsReported lets Run say it.
func TestADamagedIndexIsReported(t *testing.T) {
	dir, path, x := filled(t, 40)
	whole(t, x, 40)
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	edit(t, path, func(data []byte) []byte { data[len(data)/2] ^= 4; return data })
	x, err := index.Open(t.Context(), dir, path)
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close() //nolint:errcheck // a temporary file
	s, err := x.Check(t.Context())
	if err != nil || s.Remade == nil || !s.Report.OK {
		t.Fatalf("%+v, error %v", s, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var said []error
	x.Run(ctx, func(err error) { said = append(said, err); cancel() })
	if len(said) != 1 {
		t.Fatalf("said %v", said)
	}
	if _, ok := errors.AsType[*index.RemadeError](said[0]); !ok {
		t.Errorf("said %v", said[0])
	}
	whole(t, x, 40)
}

func difference(want, got string) string {
	i := 0
	for i < min(len(want), len(got)) && want[i] == got[i] {
		i++
	}
	from := max(0, i-300)
	return fmt.Sprintf("\nwant …%s\ngot  …%s", want[from:min(len(want), i+200)], got[from:min(len(got), i+200)])
}
