package sqlguard

// amount is an upper bound for what constants make: the length of a value in bytes,
// its magnitude as a number, and the number of rows of a query. What comes from data
// counts as nothing.
// text says that the value may be something else than a number. A number counts as at
// most numberSize bytes, however it was computed. items is how many elements a list has,
// and each the size of the largest; without items, the value may have as many elements as
// bytes, and an element all of them.
//
// wild says that the number has no bound, tiny that it may be a fraction that was computed,
// and negative that something is subtracted. whole is the size of a row, where size is that
// of its largest column.
type amount struct {
	size, num, rows      float64
	text                 bool
	items, each          float64
	wild, tiny, negative bool
	whole                float64
}

// row is a for the name of a relation, which can stand for its whole row.
func (a amount) row() amount {
	a.size = max(a.size, a.whole)
	return a
}

// count is a bound for the number.
func (a amount) count() float64 {
	if a.wild {
		return boundless
	}
	return a.num
}

// signs takes over what is said about the number of another part of the value.
func (a amount) signs(b amount) amount {
	a.wild, a.tiny, a.negative = a.wild || b.wild, a.tiny || b.tiny, a.negative || b.negative
	return a
}

// numberSize is the length of a number. PostgreSQL's numeric may have more digits, but
// never as many as the limit on values.
const numberSize = 64

// boundless stands for every amount that is larger.
const boundless = 1e18

// power returns an upper bound for a to the power of b, each as at least 1.
func power(a, b float64) float64 {
	if a > 0 && a < 1 {
		a = 1 / a // the exponent may be negative
	}
	const steps = 5000 // no base from 1.01 on needs more to be boundless
	out := 1.0
	for range int(min(max(b, 1), steps)) {
		if out *= max(a, 1); out > boundless {
			return boundless
		}
	}
	if b > steps && a > 1 {
		return boundless
	}
	return out
}

func (a amount) join(b amount) amount {
	a, b = a.listed(b), b.listed(a)
	return amount{
		size: max(a.size, b.size), num: max(a.num, b.num), rows: max(a.rows, b.rows), text: a.text || b.text,
		items: max(a.items, b.items), each: max(a.each, b.each), whole: max(a.whole, b.whole),
	}.signs(a).signs(b)
}

// plus is what the two values make one after the other. The numbers are added too.
func (a amount) plus(b amount) amount {
	a, b = a.listed(b), b.listed(a)
	return amount{
		size: a.size + b.size, num: a.num + b.num, rows: max(a.rows, b.rows), text: a.text || b.text,
		items: a.items + b.items, each: max(a.each, b.each), whole: max(a.whole, b.whole),
	}.signs(a).signs(b)
}

// listed is a with its number of elements when b is a list.
func (a amount) listed(b amount) amount {
	if b.items > 0 && a.items == 0 {
		a.items, a.each = a.size, a.size
	}
	return a
}

// element is a bound for one element of a list, and how many there are at most.
func (a amount) element() (amount, float64) {
	one, n := a, max(a.size, 1)
	if a.items > 0 {
		one.size, n = a.each, a.items
	}
	one.items, one.each, one.rows, one.num = 0, 0, 0, max(a.num, min(n, boundless))
	return one, n
}

func (a amount) bound() amount {
	limit := func(x float64) float64 {
		if x > boundless || x != x { // no number
			return boundless
		}
		return x
	}
	a.size, a.num, a.rows, a.items, a.each, a.whole = limit(a.size), limit(a.num), limit(a.rows), limit(a.items), limit(a.each), limit(a.whole)
	return a
}

// quoted is the size of a text of a list, a row or a document. Each character of the values can
// be hidden by another one.
func (a amount) quoted() float64 {
	if !a.text || a.size == 0 {
		return a.size
	}
	return 2*a.size + 4
}

// mapped is a list with a value for each element of another one.
func (a amount) mapped(to amount) amount {
	_, n := a.element()
	each := max(to.size, 8)
	return amount{size: n * each, num: max(a.num, to.num), text: true, items: n, each: each}.bound()
}
