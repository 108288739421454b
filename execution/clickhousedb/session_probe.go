package clickhousedb

import "github.com/ktxhq/ktx/execution/internal/rowset"

// The statements of the probe.
const (
	// grantsSQL asks for the rights of the user, with those of its roles.
	grantsSQL = "SHOW GRANTS FINAL"
	// ownGrantsSQL is what servers know that do not know FINAL.
	ownGrantsSQL = "SHOW GRANTS"
	rolesSQL     = "SELECT role_name FROM system.enabled_roles ORDER BY role_name"
	clockSQL     = "SELECT toUnixTimestamp(now()) AS now"

	// tryWriteSQL is the write that the probe tries, and that must be refused. Its rows go
	// nowhere.
	tryWriteSQL = "INSERT INTO FUNCTION null('n Int8') SELECT 1"
)

// roleGrantsSQL asks for the rights of a role.
func roleGrantsSQL(role string) string { return "SHOW GRANTS FOR " + rowset.Backquoted(role) }
