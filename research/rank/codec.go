package rank

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"slices"
	"strings"
)

// indexVersion changes when equal words become another index than before.
const indexVersion = "1"

// Version names the form of a stored index. It goes into the keys of caches, with
// [Analyzer.ID].
const Version = "rank-" + indexVersion

var magic = []byte("ktxrank" + indexVersion)

// ErrForeign reports bytes that are not an index of this version and analyzer. The
// index must be built again.
var ErrForeign = errors.New("not an index of this version and analyzer")

// BinarySize returns how many bytes [Index.AppendBinary] appends.
func (x *Index) BinarySize() int {
	size := len(magic) + 4 + len(x.analyzer.id) + 4 + 4 + 4 + 4
	for _, f := range x.fields {
		size += 4 + len(f.Name) + 16
	}
	for _, w := range x.words {
		size += 4 + len(w)
	}
	return size + 5*len(x.words) + 9*len(x.posts)
}

// AppendBinary appends the index in a form that [ReadIndex] reads.
func (x *Index) AppendBinary(b []byte) ([]byte, error) {
	from := len(b)
	b = slices.Grow(b, x.BinarySize())
	b = append(b, magic...)
	b = appendString(b, x.analyzer.id)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(x.fields))) //nolint:gosec // at most maxFields
	for _, f := range x.fields {
		b = appendString(b, f.Name)
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(f.Weight))
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(f.B))
	}
	b = binary.LittleEndian.AppendUint32(b, uint32(x.docs))       //nolint:gosec // there are fewer than 2^32 in memory
	b = binary.LittleEndian.AppendUint32(b, uint32(len(x.words))) //nolint:gosec // there are fewer than 2^32 in memory
	for _, w := range x.words {
		b = appendString(b, w)
	}
	b = append(b, x.kinds...)
	b = appendUint32s(b, x.starts[1:])
	b = appendUint32s(b, x.posts)
	for _, v := range x.impacts {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	b = append(b, x.tops...)
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b[from:], castagnoli)), nil
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func appendString(b []byte, s string) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(len(s))) //nolint:gosec // there are fewer than 2^32 in memory
	return append(b, s...)
}

func appendUint32s(b []byte, values []uint32) []byte {
	for _, v := range values {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	return b
}

// ReadIndex reads what [Index.AppendBinary] wrote. Bytes of another version, of another
// analyzer, or of anything else are an error, for which errors.Is(err, ErrForeign).
func ReadIndex(a *Analyzer, b []byte) (*Index, error) {
	if len(b) < len(magic)+4 || string(b[:len(magic)]) != string(magic) {
		return nil, ErrForeign
	}
	body := b[:len(b)-4]
	if crc32.Checksum(body, castagnoli) != binary.LittleEndian.Uint32(b[len(b)-4:]) {
		return nil, fmt.Errorf("%w: the checksum is wrong", ErrForeign)
	}
	r := reader{rest: body[len(magic):]}
	if r.text() != a.id {
		return nil, fmt.Errorf("%w: another analyzer made it", ErrForeign)
	}
	x := &Index{analyzer: a}
	fields := r.number()
	if fields == 0 || fields > maxFields {
		return nil, fmt.Errorf("%w: %d fields", ErrForeign, fields)
	}
	for range fields {
		name := r.text()
		x.fields = append(x.fields, Field{Name: name, Weight: math.Float64frombits(r.number64()), B: math.Float64frombits(r.number64())})
	}
	docs := r.number()
	words := r.number()
	if r.short || uint64(words)*4 > uint64(len(r.rest)) || docs > math.MaxInt32 {
		return nil, fmt.Errorf("%w: it is cut off", ErrForeign)
	}
	x.docs = int(docs)
	x.words = r.texts(int(words))
	x.kinds = append([]uint8(nil), r.take(int(words))...)
	x.starts = append(make([]uint32, 1, words+1), r.numbers(int(words))...)
	if r.short {
		return nil, fmt.Errorf("%w: it is cut off", ErrForeign)
	}
	n := int(x.starts[words])
	x.posts = r.numbers(n)
	impacts := r.numbers(n)
	x.tops = append([]uint8(nil), r.take(n)...)
	if r.short || len(r.rest) != 0 {
		return nil, fmt.Errorf("%w: its lengths do not fit", ErrForeign)
	}
	x.impacts = make([]float32, n)
	for i, v := range impacts {
		x.impacts[i] = math.Float32frombits(v)
	}
	if err := x.check(); err != nil {
		return nil, err
	}
	x.finish()
	return x, nil
}

// check reports what a search could not stand.
func (x *Index) check() error {
	for i := range x.words {
		if i > 0 && x.words[i-1] >= x.words[i] {
			return fmt.Errorf("%w: its words are not sorted", ErrForeign)
		}
		from, to := x.starts[i], x.starts[i+1]
		if from > to || int(to) > len(x.posts) {
			return fmt.Errorf("%w: its lists overlap", ErrForeign)
		}
		for k := from; k < to; k++ {
			if int(x.posts[k]) >= x.docs || k > from && x.posts[k-1] >= x.posts[k] {
				return fmt.Errorf("%w: its documents are not sorted", ErrForeign)
			}
		}
	}
	for i, v := range x.impacts {
		if !(v > 0 && v <= saturation+1) || int(x.tops[i]) >= len(x.fields) {
			return fmt.Errorf("%w: an impact is out of range", ErrForeign)
		}
	}
	return nil
}

// A reader reads the parts of a stored index. After the first part that is not there,
// short is set, and all parts are empty.
type reader struct {
	rest  []byte
	short bool
}

func (r *reader) take(n int) []byte {
	if r.short || n < 0 || n > len(r.rest) {
		r.short = true
		return nil
	}
	out := r.rest[:n]
	r.rest = r.rest[n:]
	return out
}

func (r *reader) number() uint32 {
	b := r.take(4)
	if b == nil {
		return 0
	}
	return binary.LittleEndian.Uint32(b)
}

func (r *reader) number64() uint64 {
	b := r.take(8)
	if b == nil {
		return 0
	}
	return binary.LittleEndian.Uint64(b)
}

func (r *reader) text() string { return string(r.take(int(r.number()))) }

// texts reads n texts into one piece of memory.
func (r *reader) texts(n int) []string {
	size, at := 0, *r
	for range n {
		size += len(at.take(int(at.number())))
	}
	var all strings.Builder
	all.Grow(size)
	ends := make([]int, n)
	for i := range n {
		all.Write(r.take(int(r.number())))
		ends[i] = all.Len()
	}
	out := make([]string, n)
	for i, from := 0, 0; i < n; i++ {
		out[i] = all.String()[from:ends[i]]
		from = ends[i]
	}
	return out
}

func (r *reader) numbers(n int) []uint32 {
	if n > math.MaxInt32/4 {
		r.short = true
		return nil
	}
	b := r.take(n * 4)
	if b == nil {
		return nil
	}
	out := make([]uint32, n)
	for i := range out {
		out[i] = binary.LittleEndian.Uint32(b[i*4:])
	}
	return out
}
