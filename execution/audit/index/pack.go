package index

import (
	"context"
	"encoding/binary"
	"math"

	"github.com/ncruces/go-sqlite3"
)

// blockEvents is how many events make a block. Tests change it.
var blockEvents int64 = 4096

// blockOf returns the block of an event.
func blockOf(n int64) int64 { return (n - 1) / blockEvents }

// column is a number of each statement that a pack holds.
type column int

// The columns of a pack, in their order in the file.
const (
	columnN column = iota
	columnTime
	columnStatus
	columnPrincipal
	columnClient
	columnConnection
	columnShape
	columnCodes
	columnSession
	columnAddress
	columnReason
	columnVerdict
	columnLatency
	columnEnded // 0 or 1; without an end there are no rows and no time
	columnRows
	columnMS // the bits of a floating-point number
	columnCount
)

// packed selects the columns of a pack from the table statement, in their order.
const packed = `SELECT n, time, status, principal, client, connection, shape, codes, session, address, reason, verdict, latency, ms IS NOT NULL, rows, ms FROM statement WHERE n BETWEEN ? AND ? ORDER BY n`

// block is the statements of a block as columns. Reading them so takes a tenth of the
// time that the rows of the table take.
type block struct {
	statements int
	data       [columnCount]packedColumn
	values     [columnCount][]int64
	read       [columnCount]bool
}

// packedColumn is numbers of width bytes that are added to base.
type packedColumn struct {
	base  int64
	width int
	data  []byte
}

// column returns the values of a column.
func (b *block) column(c column) []int64 {
	if b.read[c] {
		return b.values[c]
	}
	p, to := b.data[c], b.values[c][:0]
	switch base := uint64(p.base); p.width { //nolint:gosec // all bits are kept, here and below
	case 0:
		for range b.statements {
			to = append(to, p.base)
		}
	case 1:
		for _, v := range p.data {
			to = append(to, int64(base+uint64(v))) //nolint:gosec // above
		}
	case 2:
		for i := 0; i < len(p.data); i += 2 {
			to = append(to, int64(base+uint64(binary.LittleEndian.Uint16(p.data[i:])))) //nolint:gosec // above
		}
	case 4:
		for i := 0; i < len(p.data); i += 4 {
			to = append(to, int64(base+uint64(binary.LittleEndian.Uint32(p.data[i:])))) //nolint:gosec // above
		}
	default:
		for i := 0; i < len(p.data); i += 8 {
			to = append(to, int64(base+binary.LittleEndian.Uint64(p.data[i:]))) //nolint:gosec // above
		}
	}
	b.values[c], b.read[c] = to, true
	return to
}

// ms returns the time of the execution of a statement.
func (b *block) ms(i int) float64 {
	return math.Float64frombits(uint64(b.column(columnMS)[i])) //nolint:gosec // all bits are kept
}

// pack writes columns of equal length.
func pack(columns *[columnCount][]int64) []byte {
	out := binary.AppendUvarint(nil, uint64(len(columns[0])))
	for _, values := range columns {
		low, high := int64(0), int64(0)
		for i, v := range values {
			if i == 0 {
				low, high = v, v
			}
			low, high = min(low, v), max(high, v)
		}
		width := 8
		switch span := uint64(high) - uint64(low); { // the difference is right even where its parts are not
		case span == 0:
			width = 0
		case span <= math.MaxUint8:
			width = 1
		case span <= math.MaxUint16:
			width = 2
		case span <= math.MaxUint32:
			width = 4
		}
		out = append(binary.AppendVarint(out, low), byte(width))
		var bytes [8]byte
		for _, v := range values {
			binary.LittleEndian.PutUint64(bytes[:], uint64(v)-uint64(low)) //nolint:gosec // above
			out = append(out, bytes[:width]...)
		}
	}
	return out
}

// unpack makes b the block that data holds.
func (b *block) unpack(data []byte) error {
	n, used := binary.Uvarint(data)
	if used <= 0 || n > math.MaxInt32 {
		return errDamaged
	}
	b.statements, data = int(n), data[used:]
	for c := range b.data {
		base, used := binary.Varint(data)
		if used <= 0 || used >= len(data) {
			return errDamaged
		}
		width := int(data[used])
		if data = data[used+1:]; width > 8 || width*b.statements > len(data) {
			return errDamaged
		}
		b.data[c] = packedColumn{base, width, data[:width*b.statements]}
		b.read[c] = false
		data = data[width*b.statements:]
	}
	if len(data) > 0 {
		return errDamaged
	}
	return nil
}

// packBlock writes a block anew from the rows of the table.
func (w *writer) packBlock(ctx context.Context, number int64) error {
	var columns [columnCount][]int64
	err := w.each(ctx, packed, []any{number*blockEvents + 1, (number + 1) * blockEvents}, func(s *sqlite3.Stmt) bool {
		for c := range columnMS {
			columns[c] = append(columns[c], s.ColumnInt64(int(c)))
		}
		columns[columnMS] = append(columns[columnMS], int64(math.Float64bits(s.ColumnFloat(int(columnMS))))) //nolint:gosec // all bits are kept
		return true
	})
	if err != nil {
		return err
	}
	return w.run(ctx, `INSERT OR REPLACE INTO pack VALUES (?, ?)`, number, pack(&columns))
}

// packBlocks packs the blocks that are complete, except the last one, in which most
// statements still run. It packs those again in which statements have ended meanwhile.
func (w *writer) packBlocks(ctx context.Context) error {
	changed := map[int64]bool{}
	for _, r := range w.rows {
		if number := blockOf(r.n); r.stored && number < w.blocks {
			changed[number] = true
		}
	}
	for number := range changed {
		if err := w.packBlock(ctx, number); err != nil {
			return err
		}
	}
	for ; (w.blocks+2)*blockEvents <= w.state.Events; w.blocks++ {
		if err := w.packBlock(ctx, w.blocks); err != nil {
			return err
		}
	}
	return nil
}

// test is a condition on a statement of a block.
type test func(b *block, i int) bool

// isAmong is met when a column has one of the values.
func isAmong(c column, ids []int64) test {
	if len(ids) == 1 {
		return func(b *block, i int) bool { return b.column(c)[i] == ids[0] }
	}
	set := make(map[int64]bool, len(ids))
	for _, id := range ids {
		set[id] = true
	}
	return func(b *block, i int) bool { return set[b.column(c)[i]] }
}

// blocks calls do for each block with statements from first to last, in their order or
// against it, and the places of those that meet the tests. It ends when do returns false.
func (v *view) blocks(tests []test, first, last int64, newest bool, do func(b *block, met []int) bool) error {
	if first > last {
		return nil
	}
	order, step, next := `ASC`, int64(1), blockOf(first)
	if newest {
		order, step, next = `DESC`, -1, blockOf(last)
	}
	var b block
	var met []int
	var data []byte
	var damaged error
	ended := false
	err := v.each(v.ctx, `SELECT block, data FROM pack WHERE block BETWEEN ? AND ? ORDER BY block `+order, []any{blockOf(first), blockOf(last)}, func(s *sqlite3.Stmt) bool {
		if s.ColumnInt64(0) != next {
			return false
		}
		data = s.ColumnBlob(1, data[:0])
		if damaged = b.unpack(data); damaged != nil {
			return false
		}
		met = met[:0]
		next += step
		places := b.column(columnN)
	rows:
		for i := range b.statements {
			if places[i] < first || places[i] > last {
				continue
			}
			for _, t := range tests {
				if !t(&b, i) {
					continue rows
				}
			}
			met = append(met, i)
		}
		ended = !do(&b, met)
		return !ended
	})
	all := next > blockOf(last)
	if newest {
		all = next < blockOf(first)
	}
	if err == nil && damaged == nil && !ended && !all {
		damaged = errDamaged
	}
	if err != nil {
		return err
	}
	return damaged
}

// packedUntil returns the last event of the blocks that are packed, or 0.
func (v *view) packedUntil() (int64, error) {
	n, err := v.number(v.ctx, `SELECT coalesce(max(block) + 1, 0) FROM pack`)
	return n * blockEvents, err
}
