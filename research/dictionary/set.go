package dictionary

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/ktxhq/ktx/research/catalog"
	"github.com/ktxhq/ktx/research/rank"
)

// Set holds the values of one connection that the access rules permit. It does not
// change, and may be used concurrently.
type Set struct {
	connectionID string
	status       Status
	coverage     Coverage
	warnings     []string

	columns []column
	folded  []byte    // the folded values, each followed by the separator
	starts  []uint32  // of each value in folded, and the end of folded
	codes   []uint32  // hash of the code form of each value
	letters []letters // of each value
	textAt  []uint32  // of each value in file, or behind its end in samples
	file    []byte
	samples []byte
}

// column is a column whose values are known. Its values are those from one number
// up to the other.
type column struct {
	table       catalog.Ref
	name        string
	cardinality int64 // -1 if it is not known
	complete    bool
	from, to    int
}

// Status says whether a connection has values that can be searched.
type Status string

// The statuses. As the reason of a miss they say why a connection cannot have a
// match.
const (
	StatusReady        Status = "ready"
	StatusNoProfile    Status = "no_profile_artifact"
	StatusNoCandidates Status = "no_candidate_columns"
)

// Coverage says which values of a connection are known.
type Coverage struct {
	SampledRows     *int64  `json:"sampledRows"`
	ValuesPerColumn *int64  `json:"valuesPerColumn"` // at most
	ProfiledColumns int     `json:"profiledColumns"`
	Complete        bool    `json:"complete"` // every value of every profiled column is known
	SyncID          *string `json:"syncId"`
	ProfiledAt      *string `json:"profiledAt"`
}

// Unscanned returns the set of a connection without a scan.
func Unscanned(connectionID string) *Set {
	return &Set{connectionID: connectionID, status: StatusNoProfile, starts: []uint32{0}}
}

// ConnectionID returns the connection that the values are of.
func (s *Set) ConnectionID() string { return s.connectionID }

// Status says whether the set has values.
func (s *Set) Status() Status { return s.status }

// Coverage says which values of the connection the set has.
func (s *Set) Coverage() Coverage { return s.coverage }

// Warnings says what could not be read, such as a damaged file.
func (s *Set) Warnings() []string { return slices.Clone(s.warnings) }

// Len returns the number of values.
func (s *Set) Len() int { return len(s.codes) }

// Size returns how much memory the values take, in bytes.
func (s *Set) Size() int {
	return cap(s.folded) + cap(s.file) + cap(s.samples) + 4*(cap(s.starts)+cap(s.codes)+cap(s.textAt)) + 8*cap(s.letters)
}

// text returns a value as the database has it.
func (s *Set) text(i int) string {
	arena, at := s.file, int(s.textAt[i])
	if at >= len(arena) {
		arena, at = s.samples, at-len(arena)
	}
	size, n := binary.Uvarint(arena[at:])
	return string(arena[at+n : at+n+int(size)]) //nolint:gosec // add has checked or written it
}

// value returns a folded value.
func (s *Set) value(i int) []byte { return s.folded[s.starts[i] : s.starts[i+1]-1] }

// end closes a value whose folded form has just been appended to the arena.
func (s *Set) end(textAt int, code uint32) error {
	s.folded = append(s.folded, separator)
	if len(s.folded) > math.MaxUint32 || textAt > math.MaxUint32 {
		return fmt.Errorf("%w: it has too many values", errDamaged)
	}
	start := s.starts[len(s.starts)-1]
	s.starts = append(s.starts, uint32(len(s.folded))) //nolint:gosec // it fits
	s.codes = append(s.codes, code)
	s.letters = append(s.letters, lettersOf(s.folded[start:]))
	s.textAt = append(s.textAt, uint32(textAt)) //nolint:gosec // it fits
	return nil
}

// begin starts a column.
func (s *Set) begin(table catalog.Ref, name string, cardinality int64, complete bool) {
	s.columns = append(s.columns, column{table: table, name: name, cardinality: cardinality, complete: complete, from: len(s.codes), to: len(s.codes)})
}

// addRecord adds a column of the values file. Refold is set if the file was folded
// by another version of ktx.
func (s *Set) addRecord(r *record, refold bool) error {
	s.begin(r.table, r.column, r.distinct, r.complete)
	err := r.each(func(v value) error {
		code := v.code
		switch {
		case refold:
			folded := fold(string(v.text))
			if folded == "" {
				return nil
			}
			s.folded = append(s.folded, folded...)
			code = codeOf(rank.FoldCode(string(v.text)))
		case v.folded != nil:
			s.folded = append(s.folded, v.folded...)
		default:
			for _, c := range v.text {
				if c == separator {
					return fmt.Errorf("%w: a value has more than one line", errDamaged)
				}
				s.folded = append(s.folded, lower(c))
			}
		}
		return s.end(headerSize+r.at+v.at, code)
	})
	s.columns[len(s.columns)-1].to = len(s.codes)
	return err
}

// addSamples adds a column of the artifacts of a scan.
func (s *Set) addSamples(table catalog.Ref, name string, values []string, cardinality int64, complete bool) error {
	s.begin(table, name, cardinality, complete)
	last := &s.columns[len(s.columns)-1]
	for _, text := range values {
		folded := fold(text)
		if len(text) > maxValue {
			last.complete = false
			continue
		}
		if folded == "" {
			continue
		}
		at := len(s.file) + len(s.samples)
		s.samples = binary.AppendUvarint(s.samples, uint64(len(text)))
		s.samples = append(s.samples, text...)
		s.folded = append(s.folded, folded...)
		if err := s.end(at, codeOf(rank.FoldCode(text))); err != nil {
			return err
		}
	}
	last.to = len(s.codes)
	return nil
}
