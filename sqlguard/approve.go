package sqlguard

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
)

// Approved is one statement that one guard allowed. Only [Guard.Approve] makes one.
// The zero value has no statement. An Approved cannot be compared, printed, logged or
// serialised. Only [Approved.SQLFor] returns the statement, and only
// [Approved.RelationsFor] what it reads.
type Approved struct {
	_ [0]func() // not comparable
	// text is a pointer, because fmt ignores the methods of a value in an unexported
	// field of another type, and would print a string field.
	text  *string
	seen  *[]VerdictRelation
	guard ID
}

// ErrNotApproved is the error of [Approved.SQLFor] for every guard except the one
// that approved the statement.
var ErrNotApproved = errors.New("the text was not approved by this connection's guard")

var errNotSerialised = errors.New("an approved text cannot be serialised")

// Approve returns sql as an approved statement when [Guard.Check] allows it.
// Otherwise the error is a *[RejectedError].
func (g *Guard) Approve(sql string) (Approved, error) {
	a, _, err := g.Judge(sql)
	return a, err
}

// Judge is like Approve and also returns the verdict, which callers record.
func (g *Guard) Judge(sql string) (Approved, Verdict, error) {
	v := g.Check(sql)
	if !v.Allowed {
		return Approved{}, v, &RejectedError{Verdict: v}
	}
	return Approved{text: &sql, seen: &v.Relations, guard: g.id}, v, nil
}

// SQLFor returns the statement if the guard with that id approved it. It returns an
// error for the zero value, the zero id and the id of every other guard.
func (a Approved) SQLFor(id ID) (string, error) {
	if a.text == nil || id == (ID{}) || a.guard != id {
		return "", ErrNotApproved
	}
	return *a.text, nil
}

// RelationsFor returns the relations that the guard saw in the statement, under the same
// condition as [Approved.SQLFor]. A backend whose server says which tables a statement
// reads compares them. Callers must not change them.
func (a Approved) RelationsFor(id ID) ([]VerdictRelation, error) {
	if a.seen == nil || id == (ID{}) || a.guard != id {
		return nil, ErrNotApproved
	}
	return *a.seen, nil
}

// Format prints a fixed mark for every verb.
func (Approved) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "Approved(***)") }

// LogValue logs a fixed mark.
func (Approved) LogValue() slog.Value { return slog.StringValue("Approved(***)") }

// MarshalJSON returns an error: an approval does not leave the process.
func (Approved) MarshalJSON() ([]byte, error) { return nil, errNotSerialised }

// UnmarshalJSON returns an error: an approval does not enter the process.
func (*Approved) UnmarshalJSON([]byte) error { return errNotSerialised }

// MarshalText returns an error.
func (Approved) MarshalText() ([]byte, error) { return nil, errNotSerialised }

// UnmarshalText returns an error.
func (*Approved) UnmarshalText([]byte) error { return errNotSerialised }

// GobEncode returns an error.
func (Approved) GobEncode() ([]byte, error) { return nil, errNotSerialised }

// GobDecode returns an error.
func (*Approved) GobDecode([]byte) error { return errNotSerialised }
