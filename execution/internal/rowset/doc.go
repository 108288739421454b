// Package rowset collects the rows of an answer within the limits of a call.
//
//	s := rowset.Set{Limits: lim, Syntax: &syntax}
//	s.Describe(3)
//	s.Column(0, column, rowset.Integer)
//	…
//	if s.Room() {
//		s.Add(texts)
//	}
//	return s.Result()
//
// It knows no protocol: a backend gives it values as text. It never returns a
// part of a value. The rows end before the first row that does not fit, and the
// result says why.
package rowset
