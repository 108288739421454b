package corpus

import (
	"fmt"
	"slices"
)

// Dialect is an SQL language that cases are written in.
type Dialect struct {
	Name string // as everywhere in ktx: "postgres"
	Code string // in IDs: "PG"
}

var dialects = []Dialect{
	{"postgres", "PG"},
	{"mysql", "MY"},
	{"sqlserver", "MS"},
	{"sqlite", "LITE"},
	{"duckdb", "DUCK"},
	{"clickhouse", "CH"},
	{"trino", "TRINO"},
	{"snowflake", "SNOW"},
	{"bigquery", "BQ"},
}

// Dialects returns the dialects that a case may name.
func Dialects() []Dialect { return slices.Clone(dialects) }

// KnowsDialect returns an error that lists the dialects if name is none of them.
func KnowsDialect(name string) error {
	if _, known := dialectCode(name); !known {
		return fmt.Errorf("dialect %q is not one of %s", name, dialectNames())
	}
	return nil
}

// Class groups cases by the construct that they are about.
type Class struct {
	Name  string // the file's name: "select-into"
	Code  string // in IDs: "INTO"
	Title string
}

var classes = []Class{
	{"raw-text", "RAW", "Text that readers and servers may read differently"},
	{"limits", "LIM", "Text too long or nested too deeply to judge safely"},
	{"amplified-constant", "AMP", "Constants from which a statement makes long values, and work that grows faster than its text"},
	{"multiple-statements", "MUL", "More than one statement in one text"},
	{"client-command", "CLI", "Commands of command line clients"},
	{"parameter", "PAR", "Parameter markers with nothing bound to them"},
	{"write-statement", "DML", "Statements that change data"},
	{"write-in-cte", "CTE", "Writes inside WITH"},
	{"select-into", "INTO", "SELECT that stores its result"},
	{"locking", "LCK", "Reads that lock rows, and locks on tables"},
	{"ddl", "DDL", "Statements that change the schema"},
	{"privilege", "PRV", "Statements that change roles, grants or ownership"},
	{"transaction-control", "TXN", "Statements that begin, end or change a transaction"},
	{"session-change", "SES", "Statements that change the session"},
	{"procedural", "PRC", "Procedural blocks and procedure calls"},
	{"dynamic-sql", "DYN", "SQL text that runs unseen"},
	{"copy", "CPY", "Bulk transfer to and from files, programs and the client"},
	{"maintenance", "MNT", "Maintenance of tables and of the server"},
	{"attach", "ATT", "Other database files"},
	{"pragma", "PRG", "PRAGMA in its setting and disclosing forms"},
	{"side-effect-function", "FN", "Built-in functions that do more than compute"},
	{"function-position", "POS", "Such functions in unusual positions and spellings"},
	{"unlisted-function", "UNL", "Functions that nothing proves to be pure"},
	{"operator", "OP", "Operators that may run any function"},
	{"system-relation", "REL", "System relations that disclose"},
	{"setting", "SET", "Server settings that disclose"},
	{"explain", "EXP", "EXPLAIN that runs or covers something else than a read"},
	{"access-policy", "POL", "Statements whose verdict depends on configuration"},
	{"rule-leak", "LEAK", "Other ways to what a rule on a table or a column denies"},
}

// Classes returns the classes of cases, in the order of the documentation.
func Classes() []Class { return slices.Clone(classes) }

var effects = []string{
	"none", "hidden_text", "hidden_sql", "data_write", "schema_write", "privilege_change", "transaction_end", "session_change",
	"notification", "lock", "sequence", "file_read", "file_write", "network", "code_execution", "disclosure", "resource", "server_control",
}

// Effects returns the kinds of effect; INTERPRETING.md says what each means.
func Effects() []string { return slices.Clone(effects) }

var engines = []string{"postgresql", "mysql", "mariadb", "sqlserver", "sqlite", "duckdb", "clickhouse", "trino", "snowflake", "bigquery"}

// Engines returns the names that [Engine] may have.
func Engines() []string { return slices.Clone(engines) }

func dialectCode(name string) (string, bool) {
	i := slices.IndexFunc(dialects, func(d Dialect) bool { return d.Name == name })
	if i < 0 {
		return "", false
	}
	return dialects[i].Code, true
}

func classCode(name string) (string, bool) {
	i := slices.IndexFunc(classes, func(c Class) bool { return c.Name == name })
	if i < 0 {
		return "", false
	}
	return classes[i].Code, true
}
