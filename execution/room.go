package execution

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/ktxhq/ktx/sqlguard"
)

// Room bounds the memory of answers that are being made or wait for their clients,
// over all calls. It is safe for concurrent use.
type Room struct {
	size int64

	mu      sync.Mutex
	taken   int64
	waiting []*seeker
}

// seeker is a call that waits for room.
type seeker struct {
	share *Share
	n     int64
	turn  chan struct{} // closed when it has got its room
}

// DefaultRoom is the size of a [Room] when nobody chose one.
const DefaultRoom = 256 << 20

// makingCost is how many bytes of memory one byte of an answer as JSON takes at most
// while it is made, and sendingCost how many while it is sent. The protocol has an
// answer twice in its message, as text and as structured content, and the message is
// in memory twice while it is written.
const (
	makingCost  = 7
	sendingCost = 5
)

// Small answers need not wait for large ones: a share of at most 1/smallShare of the room
// is also given when up to 1/smallRoom more than the room is taken. Otherwise a few
// clients that do not read large answers would hold up all others.
const (
	smallShare = 32
	smallRoom  = 4
)

// roomPatience is how long a call waits for room before it fails as busy, and
// roomRetry is when it may try again.
const (
	roomPatience = 10 * time.Second
	roomRetry    = 2 * time.Second
)

// NewRoom returns a room of size bytes; 0 means [DefaultRoom].
func NewRoom(size int64) *Room {
	if size <= 0 {
		size = DefaultRoom
	}
	return &Room{size: size}
}

// Taken returns how many bytes are taken.
func (r *Room) Taken() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.taken
}

// Share is what one call takes of a room. The gateway takes it for the largest
// answer that the call may get, before the statement runs. Whoever makes the
// answer gives back what it does not need, and whoever delivers it gives back the
// rest.
type Share struct {
	room *Room
	has  int64 // guarded by the room's mu
	left bool  // guarded by the room's mu
}

// NewShare returns an empty share of r.
func (r *Room) NewShare() *Share { return &Share{room: r} }

type shareKey struct{}

// WithShare returns a context under which the answers of statements count against
// the room of s.
func WithShare(ctx context.Context, s *Share) context.Context {
	return context.WithValue(ctx, shareKey{}, s)
}

// ShareFrom returns the share of ctx, or nil. A nil share takes nothing.
func ShareFrom(ctx context.Context) *Share {
	s, _ := ctx.Value(shareKey{}).(*Share)
	return s
}

// TakeNow is Take without waiting. It reports whether the share is large enough.
func (s *Share) TakeNow(bytes int64) bool {
	if s == nil {
		return true
	}
	s.room.mu.Lock()
	defer s.room.mu.Unlock()
	return !s.left && s.take(s.lacks(bytes))
}

// lacks returns what the share has too little for an answer of so many bytes. The caller
// holds the room's mu.
func (s *Share) lacks(bytes int64) int64 {
	return min(bytes, s.room.size/makingCost)*makingCost - s.has
}

// take adds n bytes to the share if that needs no waiting. The caller holds the room's mu.
func (s *Share) take(n int64) bool {
	r := s.room
	switch {
	case n <= 0:
		return true
	case len(r.waiting) == 0 && r.taken+n <= r.size, n <= r.size/smallShare && r.taken+n <= r.size+r.size/smallRoom:
		r.taken += n
		s.has += n
		return true
	default:
		return false
	}
}

// Take makes the share large enough for an answer of so many bytes, at most the
// whole room. It waits for room, and fails as busy when there is none in time.
func (s *Share) Take(ctx context.Context, bytes int64) error {
	if s == nil {
		return nil
	}
	r := s.room
	r.mu.Lock()
	n := s.lacks(bytes)
	switch {
	case s.left:
		r.mu.Unlock()
		return NewError(sqlguard.CodeCancelled, "the client has left", nil)
	case s.take(n):
		r.mu.Unlock()
		return nil
	}
	w := &seeker{share: s, n: n, turn: make(chan struct{})}
	r.waiting = append(r.waiting, w)
	r.mu.Unlock()

	waiting, end := context.WithTimeout(ctx, roomPatience)
	defer end()
	select {
	case <-w.turn:
		return nil
	case <-waiting.Done():
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, other := range r.waiting {
		if other == w {
			r.waiting = append(r.waiting[:i], r.waiting[i+1:]...)
			r.grant() // those behind it may need less
			if errors.Is(ctx.Err(), context.Canceled) {
				return contextError(ctx, "while waiting for memory for its answer")
			}
			e := NewError(sqlguard.CodeBusy, fmt.Sprintf("answers that clients have not read yet fill the %d MiB that answers may take", r.size>>20), nil)
			e.RetryAfter = roomRetry
			e.Hint = "try again in " + roomRetry.String() + ", or ask for a smaller answer with maxBytes"
			return e
		}
	}
	return nil // its turn came at the same time
}

// Keep gives back what an answer of so many bytes does not need.
func (s *Share) Keep(bytes int64) {
	if s == nil {
		return
	}
	s.room.mu.Lock()
	defer s.room.mu.Unlock()
	s.shrink(min(s.has, bytes*sendingCost))
}

// Leave gives back the whole share, for good.
func (s *Share) Leave() {
	if s == nil {
		return
	}
	s.room.mu.Lock()
	defer s.room.mu.Unlock()
	s.left = true
	s.shrink(0)
}

// shrink gives back all but keep bytes. The caller holds the room's mu.
func (s *Share) shrink(keep int64) {
	s.room.taken -= s.has - keep
	s.has = keep
	s.room.grant()
}

// grant gives room to those that wait, in order. The caller holds mu.
func (r *Room) grant() {
	for len(r.waiting) > 0 && r.taken+r.waiting[0].n <= r.size {
		w := r.waiting[0]
		r.waiting = r.waiting[1:]
		if !w.share.left {
			r.taken += w.n
			w.share.has += w.n
		}
		close(w.turn)
	}
}
