package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
)

// attach finds the end of the log and continues there. It moves bytes that a
// crash left after the last whole event to a separate file. It records every
// fault that it found before it returns. The caller holds mu and the
// directory's lock, as for every function of this file.
func (w *Writer) attach() error {
	w.detach()
	if err := w.adoptKey(); err != nil {
		return err
	}
	known, anchorErr := w.known()
	numbers, err := segments(w.store.root)
	if err != nil {
		return err
	}
	tail, sealed, err := w.lastOf(numbers)
	if err != nil {
		return err
	}
	fresh := known.Seq == 0 && tail.Seq == 0
	var notes []*Event
	switch {
	case known.Seq > tail.Seq, known.Seq == tail.Seq && known.Hash != tail.Hash:
		notes = append(notes, note(LogInfo{
			Reason: ReasonMissing, Segment: known.Segment, KnownSeq: known.Seq, KnownHash: known.Hash.String(),
		}))
	case anchorErr != nil && !fresh:
		notes = append(notes, note(LogInfo{Reason: ReasonAnchor}))
	}
	if tail.Seq == 0 {
		tail = known // no event is left: continue after the one known
	}
	if fresh && anchorErr != nil {
		// Set an anchor before the first event. So a log with events and
		// without an anchor has lost its anchor.
		if err := w.store.setAnchor(Anchor{Segment: segmentName(1)}, w.cfg.Sync != SyncOff); err != nil {
			return err
		}
	}
	w.setTail(tail)
	var torn []*Event
	switch {
	case len(numbers) == 0:
		n, _ := segmentNumber(tail.Segment) // 0 for a new log
		err = w.create(n + 1)
	case sealed:
		err = w.create(numbers[len(numbers)-1] + 1)
	default:
		torn, err = w.resume(numbers[len(numbers)-1])
	}
	if notes = append(torn, notes...); err != nil || len(notes) == 0 {
		return err
	}
	if err := w.write(notes...); err != nil {
		return err
	}
	// The anchor may name an event that is gone. Only here may the anchor move
	// back.
	if err := w.flusher.through(w.tail.Seq); err != nil {
		return err
	}
	if err := w.store.setAnchor(w.tail, w.cfg.Sync != SyncOff); err != nil {
		return err
	}
	w.anchored = w.tail
	return nil
}

func note(info LogInfo) *Event { return &Event{Type: LogRecovered, Log: info} }

// adoptKey loads the directory's key. When the directory has lost its key,
// adoptKey writes the key in use to it.
func (w *Writer) adoptKey() error {
	var have []byte
	if key := w.key.Load(); key != nil {
		have = *key
	}
	key, err := w.store.loadKey(have)
	if err != nil {
		return err
	}
	w.key.Store(&key)
	return nil
}

// known returns the last event known to this process or named by the anchor.
// The error says that there is no readable anchor.
func (w *Writer) known() (Anchor, error) {
	a, err := readAnchor(w.store.root, anchorName)
	if err != nil {
		return w.tail, err
	}
	if a.Seq > w.tail.Seq {
		return a, nil
	}
	return w.tail, nil
}

// lastOf returns the last whole event in the newest segment that has one, and
// whether that event seals the newest segment.
func (w *Writer) lastOf(numbers []int) (tail Anchor, sealed bool, err error) {
	for i, number := range slices.Backward(numbers) {
		name := segmentName(number)
		f, err := w.store.open(name, os.O_RDONLY)
		if err != nil {
			return Anchor{}, false, err
		}
		h, _, end, err := scan(f)
		if err = errors.Join(err, f.Close()); err != nil {
			return Anchor{}, false, fmt.Errorf("read %s: %w", name, err)
		}
		if end > 0 {
			sealed = h.kind == SegmentSeal && i == len(numbers)-1
			return Anchor{Seq: h.seq, Hash: h.hash, Segment: name}, sealed, nil
		}
	}
	return Anchor{}, false, nil
}

// scan returns the last whole event of f, the size of f, and the offset at
// which that event ends.
func scan(f *os.File) (h head, size, end int64, err error) {
	info, err := f.Stat()
	if err != nil {
		return head{}, 0, 0, err
	}
	h, end, err = lastEvent(f, 0, info.Size())
	return h, info.Size(), end, err
}

// resume continues segment number. It saves and cuts off the bytes after the
// last whole event, and returns the events that say so. It returns them again
// on every call until an event is appended after the cut.
func (w *Writer) resume(number int) ([]*Event, error) {
	name := segmentName(number)
	f, err := w.store.open(name, os.O_RDWR|os.O_APPEND)
	if err != nil {
		return nil, err
	}
	_, size, end, err := scan(f)
	if err == nil && end < size {
		if err = w.saveTorn(f, name, end, size); err == nil {
			if err = f.Truncate(end); err == nil {
				err = w.flusher.flush(f)
			}
		}
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("repair %s: %w", name, err), f.Close())
	}
	if err := w.use(number, f, end); err != nil {
		return nil, err
	}
	return w.tornAt(name, end)
}

const tornInfix = ".torn-"

// saveTorn copies the bytes from…to of a segment to a file named after their
// offset and hash, so that a second try writes the same file.
func (w *Writer) saveTorn(f *os.File, segment string, from, to int64) error {
	hash := sha256.New()
	if _, err := io.Copy(hash, io.NewSectionReader(f, from, to-from)); err != nil {
		return err
	}
	name := fmt.Sprintf("%s%s%d-%x", segment, tornInfix, from, hash.Sum(nil)[:8])
	if err := regular(w.store.root, name); err == nil {
		if err := w.store.root.Remove(name); err != nil {
			return err
		}
	}
	saved, err := w.store.create(name)
	if err != nil {
		return err
	}
	_, err = io.Copy(saved, io.NewSectionReader(f, from, to-from))
	if err == nil {
		err = w.flusher.flush(saved)
	}
	return errors.Join(err, saved.Close(), w.syncNames())
}

// tornAt returns the events for the files of bytes that were cut from segment
// at offset.
func (w *Writer) tornAt(segment string, offset int64) ([]*Event, error) {
	all, err := names(w.store.root)
	if err != nil {
		return nil, err
	}
	slices.Sort(all)
	var events []*Event
	for _, name := range all {
		at, ok := tornOffset(name, segment)
		if !ok || at != offset {
			continue
		}
		f, err := w.store.open(name, os.O_RDONLY)
		if err != nil {
			return nil, err
		}
		hash := sha256.New()
		n, err := io.Copy(hash, f)
		if err = errors.Join(err, f.Close()); err != nil {
			return nil, err
		}
		events = append(events, note(LogInfo{
			Reason: ReasonTorn, Segment: segment, Offset: offset, Bytes: n,
			SHA256: hex.EncodeToString(hash.Sum(nil)), Saved: name,
		}))
	}
	return events, nil
}

// tornOffset returns the offset in the name of a file of bytes cut from
// segment.
func tornOffset(name, segment string) (int64, bool) {
	rest, ok := strings.CutPrefix(name, segment+tornInfix)
	if !ok {
		return 0, false
	}
	digits, _, _ := strings.Cut(rest, "-")
	n, err := strconv.ParseInt(digits, 10, 64)
	return n, err == nil
}

// syncNames flushes the directory unless flushing is off.
func (w *Writer) syncNames() error {
	if w.cfg.Sync == SyncOff {
		return nil
	}
	return syncDir(w.store.root)
}
