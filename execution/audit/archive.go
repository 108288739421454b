package audit

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"
)

// Archived says what Archive moved.
type Archived struct {
	// Segments are the files, oldest first. There are none when nothing was old
	// enough.
	Segments []string `json:"segments"`
	// FirstSeq and Events count the events in the segments, including the
	// seals.
	FirstSeq int64 `json:"firstSeq,omitempty"`
	Events   int64 `json:"events"`
	Bytes    int64 `json:"bytes"`
	// Last names the last event, as the anchor of the archive does.
	Last Anchor `json:"last,omitzero"`
}

// Archivable returns the segments that Archive would move. The error is
// [ErrBroken] when the log has a problem.
func Archivable(ctx context.Context, dir string, before time.Time) (Archived, error) {
	var report Report
	latest, last := map[string]time.Time{}, map[string]Anchor{}
	for rec, err := range Checked(ctx, dir, &report) {
		if _, bad := errors.AsType[*LineError](err); bad {
			continue // the report has a problem for this
		}
		if err != nil {
			return Archived{}, err
		}
		if rec.Event.Time.After(latest[rec.Segment]) {
			latest[rec.Segment] = rec.Event.Time
		}
		a := Anchor{Seq: rec.Event.Seq, Segment: rec.Segment}
		if err := a.Hash.UnmarshalText([]byte(rec.Event.Chain.Hash)); err == nil {
			last[rec.Segment] = a
		}
	}
	if !report.OK {
		return Archived{}, fmt.Errorf("%w: %s", ErrBroken, report.Problems[0])
	}
	out := Archived{Segments: []string{}}
	for _, seg := range report.Segments {
		end := last[seg.Name]
		if !seg.Sealed || !latest[seg.Name].Before(before) {
			break
		}
		if len(out.Segments) == 0 {
			out.FirstSeq = seg.FirstSeq
		}
		out.Segments = append(out.Segments, seg.Name)
		out.Events += seg.Events
		out.Bytes += seg.Bytes
		out.Last = end
	}
	return out, nil
}

// ErrBroken says that the chain is broken, so no segment of the log is moved.
var ErrBroken = errors.New("the chain is broken")

// Archive moves the oldest segments of the log in dir to the folder to: the
// sealed segments whose events are all older than before. The segment in use
// stays. Other processes may append meanwhile.
//
// Archive first verifies the log. It copies and flushes the segments, gives the
// copies an anchor of their own and verifies the archive as a log by itself.
// Then it writes and flushes a log.archived event, which names the last event
// moved. Only then does it remove the segments. When Archive is interrupted, it
// can be repeated. The archive must continue the log that is already in the
// folder, or the folder must hold the log.archived event of the segments
// before.
//
// [Verify] accepts a log without its first segments only when the log holds
// that event. Keep the archive's anchor: with it, Verify proves that the log
// continues the archive.
func Archive(ctx context.Context, dir string, cfg Config, to string, before time.Time) (Archived, error) {
	moved, err := Archivable(ctx, dir, before)
	if err != nil || len(moved.Segments) == 0 {
		return moved, err
	}
	if err := archive(ctx, dir, cfg, to, moved); err != nil {
		return Archived{}, fmt.Errorf("archive audit log: %w", err)
	}
	return moved, nil
}

func archive(ctx context.Context, dir string, cfg Config, to string, moved Archived) (err error) {
	cfg.Sync = SyncAlways // the log.archived event must be on disk before the removal
	w, err := Open(dir, cfg, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	if err := os.MkdirAll(to, dirMode); err != nil {
		return err
	}
	from, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer from.Close() //nolint:errcheck // it was used only for removals, which are flushed
	root, err := os.OpenRoot(to)
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // all files written through it are flushed and closed
	if err := apart(from, root); err != nil {
		return err
	}
	names, err := archivedNames(from, moved.Segments)
	if err != nil {
		return err
	}
	target := store{path: to, root: root}
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := target.copyFrom(from, name); err != nil {
			return fmt.Errorf("copy %s: %w", name, err)
		}
	}
	if err := errors.Join(target.setAnchor(moved.Last, true), syncDir(root)); err != nil {
		return err
	}
	report, err := Verify(ctx, to)
	switch {
	case err != nil:
		return err
	case !report.OK:
		return fmt.Errorf("what is in %s now is not whole, so nothing was removed: %s", to, report.Problems[0])
	case report.LastSeq != moved.Last.Seq || report.LastHash != moved.Last.Hash:
		return fmt.Errorf("what is in %s goes on after event %d, so nothing was removed", to, moved.Last.Seq)
	}
	if err := w.archived(ctx, moved); err != nil {
		return err
	}
	for _, name := range names {
		if err := ignoreMissing(from.Remove(name)); err != nil {
			return err
		}
	}
	return syncDir(from)
}

// apart refuses to archive a log into itself.
func apart(from, to *os.Root) error {
	a, err := from.Stat(".")
	if err != nil {
		return err
	}
	b, err := to.Stat(".")
	if err != nil {
		return err
	}
	if os.SameFile(a, b) {
		return errors.New("the archive is the folder of the log itself")
	}
	return nil
}

// archivedNames lists the segments, oldest first, each with the files that keep
// bytes cut from it.
func archivedNames(root *os.Root, segments []string) ([]string, error) {
	all, err := names(root)
	if err != nil {
		return nil, err
	}
	slices.Sort(all)
	var out []string
	for _, segment := range segments {
		for _, name := range all {
			if strings.HasPrefix(name, segment+tornInfix) {
				out = append(out, name)
			}
		}
		out = append(out, segment)
	}
	return out, nil
}

// copyFrom copies a file and flushes the copy. When a file of that name exists,
// it must have the same content.
func (s *store) copyFrom(from *os.Root, name string) error {
	src, err := openRegular(from, name)
	if err != nil {
		return err
	}
	defer src.Close() //nolint:errcheck // nothing was written
	if have, err := openRegular(s.root, name); err == nil {
		same, err := sameContent(src, have)
		if err = errors.Join(err, have.Close()); err != nil {
			return err
		}
		if !same {
			return errors.New("another file of this name is there already")
		}
		return nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	temp := name + ".tmp"
	if err := ignoreMissing(s.root.Remove(temp)); err != nil {
		return err
	}
	dst, err := s.create(temp)
	if err != nil {
		return err
	}
	_, err = io.Copy(dst, src)
	if err == nil {
		err = dst.Sync()
	}
	if err = errors.Join(err, dst.Close()); err == nil {
		err = s.publish(temp, name)
	}
	return errors.Join(err, ignoreMissing(s.root.Remove(temp)))
}

// sameContent compares two files by their hashes. It leaves the position of the
// first at its beginning.
func sameContent(a, b *os.File) (bool, error) {
	one, two := sha256.New(), sha256.New()
	_, errA := io.Copy(one, a)
	_, errB := io.Copy(two, b)
	_, errS := a.Seek(0, io.SeekStart)
	return bytes.Equal(one.Sum(nil), two.Sum(nil)), errors.Join(errA, errB, errS)
}

// archived writes the log.archived event, which permits the removal of the
// segments. The event is flushed and anchored.
func (w *Writer) archived(ctx context.Context, moved Archived) error {
	e := Attribute(ctx, Event{Type: LogArchived, Log: LogInfo{
		Segment: moved.Last.Segment, FirstSeq: moved.FirstSeq, Records: moved.Events,
		KnownSeq: moved.Last.Seq, KnownHash: moved.Last.Hash.String(), Bytes: moved.Bytes,
	}})
	if err := w.recordOwn(&e); err != nil {
		return err
	}
	return w.checkpoint()
}

// recordOwn writes an event of the log about itself.
func (w *Writer) recordOwn(e *Event) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.begin(time.Now().Add(w.wait)); err != nil {
		return err
	}
	return errors.Join(w.write(e), w.end())
}
