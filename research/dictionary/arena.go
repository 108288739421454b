package dictionary

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"github.com/ktxhq/ktx/research/rank"
)

// scan calls found for each value that equals the query, has its code form, or
// contains it. It does so in the order of the values, once for each.
func (s *Set) scan(q *query, found func(i, kind, cost int)) {
	equal := s.sameCode(q)
	needle := []byte(q.folded)
	value := 0
	for at := 0; ; {
		n := bytes.Index(s.folded[at:], needle)
		if n < 0 {
			break
		}
		at += n
		value = s.valueAt(at, value)
		for len(equal) > 0 && equal[0] < value {
			found(equal[0], isCode, 0)
			equal = equal[1:]
		}
		kind := s.kindAt(value, at, needle)
		if len(equal) > 0 && equal[0] == value {
			kind = min(kind, isCode)
			equal = equal[1:]
		}
		found(value, kind, 0)
		at = int(s.starts[value+1])
		value++
	}
	for _, i := range equal {
		found(i, isCode, 0)
	}
}

// sameCode returns the values with the code form of the query, in order.
func (s *Set) sameCode(q *query) []int {
	if q.codeHash == 0 {
		return nil
	}
	var list []int
	for i, code := range s.codes {
		if code == q.codeHash && rank.FoldCode(s.text(i)) == q.code {
			list = append(list, i)
		}
	}
	return list
}

// valueAt returns the value that the byte of the arena belongs to. It is from or a
// later one.
func (s *Set) valueAt(at, from int) int {
	step := 1 // the next match is often near
	for from+step < len(s.starts) && int(s.starts[from+step]) <= at {
		from += step
		step *= 2
	}
	to := min(from+step, len(s.starts)-1)
	n, exact := slices.BinarySearch(s.starts[from:to], uint32(at)) //nolint:gosec // the arena is smaller
	if exact {
		return from + n
	}
	return from + n - 1
}

// kindAt returns how the value contains the needle, whose first place in it is at.
func (s *Set) kindAt(value, at int, needle []byte) int {
	start, end := int(s.starts[value]), int(s.starts[value+1])-1
	if at == start {
		if end-start == len(needle) {
			return isExact
		}
		return isPrefix
	}
	for {
		if r, _ := utf8.DecodeLastRune(s.folded[start:at]); !isWordRune(r) {
			return isWord
		}
		n := bytes.Index(s.folded[at+1:end], needle)
		if n < 0 {
			return isSubstring
		}
		at += 1 + n
	}
}
