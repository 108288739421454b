package audit

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"
)

// errDetached: the writer has no segment to append to, or the file of its
// segment has been replaced.
var errDetached = errors.New("not attached to a segment")

// lookEvery bounds the time in which the name of the segment is not looked up because the
// system says that the file was not renamed: it does not know of what another computer does
// in a shared file system.
const lookEvery = time.Millisecond

// look returns the state of the file that has the segment's name.
func (w *Writer) look() (os.FileInfo, error) {
	now := time.Now()
	if now.Sub(w.segment.looked) < lookEvery {
		if info, err := w.segment.file.Stat(); err == nil && w.segment.moves.none(info) {
			return info, nil
		}
	}
	w.segment.looked = now
	return w.store.root.Lstat(w.segment.name)
}

// follow updates the segment and the tail to the events that other processes
// wrote, and rotates when needed. When no other process writes, that is one
// stat. The caller holds mu and the directory's lock, as for every function of
// this file.
func (w *Writer) follow() error {
	if w.segment == nil {
		return errDetached
	}
	info, err := w.look()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errDetached
	case err != nil:
		return err
	case !os.SameFile(info, w.segment.info) || info.Size() < w.segment.size:
		return errDetached
	case info.Size() > w.segment.size && w.store.moved():
		return errDetached // other processes use another lock file
	case info.Size() > w.segment.size:
		last, end, err := lastEvent(w.segment.file, w.segment.size, info.Size())
		if err != nil {
			return err
		}
		if end != info.Size() || last.kind == SegmentSeal {
			return errDetached // another process tore the last line, or rotated
		}
		w.segment.size = end
		w.setTail(Anchor{Seq: last.seq, Hash: last.hash, Segment: w.segment.name})
	}
	return w.turn()
}

// turn rotates a segment that is full or could not be flushed. It records a
// failed flush in the next segment.
func (w *Writer) turn() error {
	failed := w.flusher.failedSegment()
	if w.segment.size >= w.cfg.RotateBytes || failed == w.segment.name {
		if err := w.rotate(); err != nil {
			return err
		}
		failed = w.flusher.failedSegment()
	}
	if failed == "" {
		return nil
	}
	e := Event{Type: LogRecovered, Log: LogInfo{Reason: ReasonSync, Segment: failed}}
	if err := w.write(&e); err != nil {
		return err
	}
	w.flusher.forgive()
	return nil
}

// rotate seals the segment and creates the next one. The seal is an event of
// the chain and the last one of its segment. The first event of the next
// segment names the seal's hash.
func (w *Writer) rotate() error {
	old := w.segment
	e := Event{Type: SegmentSeal, Log: LogInfo{Segment: old.name, Bytes: old.size}}
	if first, ok := firstSeq(old.file); ok {
		e.Log.FirstSeq, e.Log.Records = first, w.tail.Seq-first+1
	}
	if err := w.write(&e); err != nil {
		return fmt.Errorf("seal %s: %w", old.name, err)
	}
	return w.create(old.number + 1)
}

// firstSeq reads the sequence number of the first event of a segment. It
// returns false for a damaged first line; Verify says what is wrong with that
// line.
func firstSeq(r io.ReaderAt) (int64, bool) {
	line, err := bufio.NewReader(io.NewSectionReader(r, 0, maxLine)).ReadBytes('\n')
	if err != nil {
		return 0, false
	}
	h, err := readHead(line[:len(line)-1])
	return h.seq, err == nil
}

// create creates segment number and continues with it.
func (w *Writer) create(number int) error {
	name := segmentName(number)
	f, err := w.store.create(name)
	if err != nil {
		return err
	}
	if err := w.syncNames(); err != nil {
		return errors.Join(err, f.Close())
	}
	return w.use(number, f, 0)
}

// use continues with an open segment whose events end at size.
func (w *Writer) use(number int, f *os.File, size int64) error {
	info, err := f.Stat()
	if err != nil {
		return errors.Join(err, f.Close())
	}
	if w.segment != nil {
		w.segment.moves.close()
	}
	w.segment = &segment{number: number, name: segmentName(number), file: f, info: info, size: size, moves: watchMoves(f)}
	return w.flusher.use(f, w.segment.name)
}

// detach leaves the segment. The next append looks for the segment to use.
func (w *Writer) detach() {
	if w.segment == nil {
		return
	}
	w.segment.moves.close()
	w.segment = nil
	if err := w.flusher.use(nil, ""); err != nil {
		w.logger.Error("audit segment cannot be closed", "dir", w.path, "error", err)
	}
}
