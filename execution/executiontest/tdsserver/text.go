package tdsserver

import "strings"

func lengthOf(x expr, f func(string) int64) (expr, error) {
	if c := x.t.class(); c != classVarChar && c != classNVarChar {
		return expr{}, unknown("the length of "+x.t.String(), 0)
	}
	return strict(Int, []expr{x}, func(_ *session, v []any) (any, error) {
		if b, ok := v[0].(Blob); ok {
			return b.Size, nil
		}
		return f(v[0].(string)), nil //nolint:forcetypeassert // a text is a blob or a string
	}), nil
}

func textFunction(f func(string) string) function {
	return function{1, 1, func(args []expr) (expr, error) {
		if c := args[0].t.class(); c != classVarChar && c != classNVarChar {
			return expr{}, unknown("this function of "+args[0].t.String(), 0)
		}
		return strict(args[0].t, args, func(_ *session, v []any) (any, error) {
			s, ok := v[0].(string)
			if !ok {
				return nil, unknown("a function of a text that is not held in memory", 0)
			}
			return f(s), nil
		}), nil
	}}
}

// heldInMemory is up to how many bytes REPLICATE returns a string. Above that,
// it returns a Blob.
const heldInMemory = 64 << 10

// replicate is REPLICATE. It returns at most 8,000 bytes unless the text has a
// (max) type.
func replicate(args []expr) (expr, error) {
	t := args[0].t
	if c := t.class(); c != classVarChar && c != classNVarChar || args[1].t.class() != classInteger {
		return expr{}, unknown("REPLICATE of "+t.String(), 0)
	}
	unit := 1
	if t.class() == classNVarChar {
		unit = 2
		if t.size != sizeMax {
			t = NVarChar(4000)
		}
	} else if t.size != sizeMax {
		t = VarChar(8000)
	}
	return strict(t, args, func(_ *session, v []any) (any, error) {
		s, n := v[0].(string), v[1].(int64) //nolint:forcetypeassert // the types were checked
		switch {
		case n < 0:
			return nil, nil
		case n == 0 || s == "":
			return "", nil
		}
		size := int64(unit) * int64(units(s))
		if t.size != sizeMax {
			n = min(n, 8000/size)
		}
		if n*size <= heldInMemory {
			return strings.Repeat(s, int(n)), nil
		}
		if len(s) != 1 {
			return nil, unknown("a long REPLICATE of more than one ASCII character", 0)
		}
		if unit == 2 {
			return Blob{Size: 2 * n, Fill: s[0], Zero: true}, nil
		}
		return Blob{Size: n, Fill: s[0]}, nil
	}), nil
}

// part is LEFT or RIGHT.
func part(args []expr, left bool) (expr, error) {
	t := args[0].t
	if c := t.class(); c != classVarChar && c != classNVarChar || args[1].t.class() != classInteger {
		return expr{}, unknown("LEFT or RIGHT of "+t.String(), 0)
	}
	return strict(t, args, func(_ *session, v []any) (any, error) {
		s, ok := v[0].(string)
		n, _ := v[1].(int64)
		if !ok || n < 0 {
			return nil, unknown("LEFT or RIGHT of this", 0)
		}
		r := []rune(s)
		n = min(n, int64(len(r)))
		if left {
			return string(r[:n]), nil
		}
		return string(r[int64(len(r))-n:]), nil
	}), nil
}
