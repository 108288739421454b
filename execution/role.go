package execution

import "github.com/ktxhq/ktx/sqlguard"

// RoleChecker is a [Backend] that can check its role with each new connection, at
// the cost of one round trip.
type RoleChecker interface {
	// CheckRole makes every connection that is opened from now on fail with
	// [RoleRefused] when its role can do more than read. The check finds the
	// rights that matter most; [Backend.Probe] finds all.
	CheckRole()
}

// RoleRefused returns the error for a connection whose role can do more than read
// although its configuration refuses such a role. what says what it can do, or
// which connection it is.
func RoleRefused(what string) *Error {
	e := NewError(sqlguard.CodeNotConfigured, what, nil)
	e.Hint = "the operator can print the script of a read-only role with ktx doctor --role-script"
	return e
}

// CheckedRole returns the error for a new connection, or nil when it cannot do
// more than read. can is what its role can do, "" when only read.
func CheckedRole(can string) error {
	if can == "" {
		return nil
	}
	return RoleRefused("the connection is configured to refuse a role that can do more than read, and its role has changed: " + can)
}
