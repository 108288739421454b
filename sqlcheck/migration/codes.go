package migration

import (
	"embed"
	"slices"

	"github.com/ktxhq/ktx/sqlguard"
)

// Family is the family of the codes of this package.
const Family sqlguard.Family = "migration"

// Level says how serious the findings of a code are.
type Level string

// The levels.
const (
	Error   Level = "error"   // it stops a running system, or fails
	Warning Level = "warning" // it can, or it breaks a program that is not yet changed
	Note    Level = "note"    // it was not judged
)

// The codes.
const (
	CodeIndexBlocksWrites sqlguard.Code = "migration_index_blocks_writes"
	CodeIndexDropBlocks   sqlguard.Code = "migration_index_drop_blocks"
	CodeConstraintScans   sqlguard.Code = "migration_constraint_scans"
	CodeNotNullScans      sqlguard.Code = "migration_not_null_scans"
	CodeColumnRequired    sqlguard.Code = "migration_column_required"
	CodeRewritesTable     sqlguard.Code = "migration_rewrites_table"
	CodeBlocksWrites      sqlguard.Code = "migration_blocks_writes"
	CodeNotOnline         sqlguard.Code = "migration_not_online"
	CodeBreaksPrograms    sqlguard.Code = "migration_breaks_programs"
	CodeDataLoss          sqlguard.Code = "migration_data_loss"
	CodeNoLockTimeout     sqlguard.Code = "migration_no_lock_timeout"
	CodeInTransaction     sqlguard.Code = "migration_in_transaction"
	CodeLockOrder         sqlguard.Code = "migration_lock_order"
	CodeChangesAllRows    sqlguard.Code = "migration_changes_all_rows"
	CodeEnumValueUsed     sqlguard.Code = "migration_enum_value_used"
	CodeNotJudged         sqlguard.Code = "migration_not_judged"
)

var table = []struct {
	code                 sqlguard.Code
	level                Level
	title, summary, hint string
}{
	{CodeIndexBlocksWrites, Error, "Index blocks writes", "The table takes no writes while the index is built.", "build the index while the table is in use: CONCURRENTLY, LOCK=NONE, or ONLINE = ON"},
	{CodeIndexDropBlocks, Warning, "Dropping the index blocks the table", "Nobody reads or writes the table while the index is dropped, and the drop waits for everybody who does.", "drop the index with CONCURRENTLY, or with ONLINE = ON"},
	{CodeConstraintScans, Error, "Constraint reads the whole table", "The server reads every row for the constraint and blocks writes meanwhile.", "add the constraint without a check of the old rows, and check them in a later statement"},
	{CodeNotNullScans, Error, "NOT NULL reads the whole table", "The server reads every row before it accepts NOT NULL, and nobody reads or writes the table meanwhile.", "add a CHECK (… IS NOT NULL) NOT VALID, validate it, and then set NOT NULL"},
	{CodeColumnRequired, Error, "Required column without a default", "The statement fails when the table has rows, and programs that do not know the column can no longer insert.", "add the column with a DEFAULT, or without NOT NULL, and fill it before you require it"},
	{CodeRewritesTable, Error, "Rewrites the table", "The server copies the whole table, and nobody writes to it (on most servers nobody reads it) meanwhile.", "add a new column or table, fill it in batches, and switch over"},
	{CodeBlocksWrites, Error, "Blocks writes", "The table takes no writes while the statement runs.", "write it so that the server keeps the table open for writes, or do it while nobody writes"},
	{CodeNotOnline, Warning, "Nothing asks for an online change", "The server silently takes the slow way when it cannot do the change while the table is in use.", "name the algorithm and the lock, so that the server refuses instead of blocking"},
	{CodeBreaksPrograms, Warning, "Breaks programs that still run", "A program that was not yet replaced reads or writes the old name.", "first release programs that use neither, or both; remove the old name in a later migration"},
	{CodeDataLoss, Warning, "Loses data", "The statement removes rows that no rollback of a deployment brings back.", "keep a copy, or move the data away first"},
	{CodeNoLockTimeout, Warning, "Waits for its lock without a limit", "While the statement waits for its lock, every later query on the table waits behind it.", "set a limit for the wait before it, and try again when it is reached"},
	{CodeInTransaction, Error, "Cannot run in a transaction", "The server refuses the statement in a transaction, or ends the transaction with it.", "run it outside of a transaction, in a file of its own"},
	{CodeLockOrder, Warning, "Locks several tables at once", "The transaction locks one table and then waits for another, so it can deadlock with programs that take them in the other order.", "change one table in a transaction, or lock the tables in one order first"},
	{CodeChangesAllRows, Warning, "Changes every row at once", "One statement locks and writes every row of the table, and its transaction stays open for as long.", "change the rows in batches, outside of the migration's transaction"},
	{CodeEnumValueUsed, Error, "New value of an enum used too early", "A value that a transaction adds to an enum cannot be used before it commits.", "add the value in a transaction of its own"},
	{CodeNotJudged, Note, "Not judged", "The profile has no rule for this form of DDL.", "read the manual of the server for the locks of this statement"},
}

//go:embed pages/*.md
var pages embed.FS

// Codes returns every code of this package in the order of the documentation.
func Codes() []sqlguard.CodeInfo {
	out := make([]sqlguard.CodeInfo, 0, len(table))
	for _, c := range table {
		page, _ := pages.ReadFile("pages/" + string(c.code) + ".md") // a test checks that each has one
		out = append(out, sqlguard.CodeInfo{Code: c.code, Family: Family, Title: c.title, Summary: c.summary, Retryable: true, Page: string(page)})
	}
	return out
}

// LookupCode returns the description of a code of this package.
func LookupCode(code sqlguard.Code) (sqlguard.CodeInfo, bool) {
	codes := Codes()
	i := slices.IndexFunc(codes, func(c sqlguard.CodeInfo) bool { return c.Code == code })
	if i < 0 {
		return sqlguard.CodeInfo{}, false
	}
	return codes[i], true
}

// LevelOf returns the level of a code, and false if it is not of this package.
func LevelOf(code sqlguard.Code) (Level, bool) {
	for _, c := range table {
		if c.code == code {
			return c.level, true
		}
	}
	return "", false
}

func hint(code sqlguard.Code) string {
	for _, c := range table {
		if c.code == code {
			return c.hint
		}
	}
	return ""
}
