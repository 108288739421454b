package engine

import "errors"

// FailedAt returns the statement from the place on at which the engine found the error
// err, or "" where the engine names none.
func FailedAt(err error) string {
	type placed interface {
		error
		SQL() string
	}
	if e, ok := errors.AsType[placed](err); ok {
		return e.SQL()
	}
	return ""
}
