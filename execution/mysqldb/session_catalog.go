package mysqldb

// The questions about the objects of databases. Each ends with a list of databases.
// information_schema shows an account only what it has a privilege on.
const (
	// namesFoldSQL: 0 when names of tables that differ in case are different.
	namesFoldSQL = "SELECT @@lower_case_table_names"

	relationsSQL = "SELECT TABLE_SCHEMA, TABLE_NAME, TABLE_TYPE, ENGINE FROM information_schema.TABLES WHERE TABLE_SCHEMA IN "
	// The servers sort names without regard to case, and return those that differ in case
	// only in any order. So the answers are sorted by bytes.
	relationsOrder = " ORDER BY CAST(TABLE_SCHEMA AS BINARY), CAST(TABLE_NAME AS BINARY)"

	// generatedSQL returns the columns of the tables that have a generated column.
	generatedSQL = "SELECT c.TABLE_SCHEMA, c.TABLE_NAME, c.COLUMN_NAME, c.DATA_TYPE, c.GENERATION_EXPRESSION FROM information_schema.COLUMNS AS c " +
		"JOIN (SELECT DISTINCT TABLE_SCHEMA AS s, TABLE_NAME AS t FROM information_schema.COLUMNS WHERE GENERATION_EXPRESSION <> '') AS g " +
		"ON g.s = c.TABLE_SCHEMA AND g.t = c.TABLE_NAME WHERE c.TABLE_SCHEMA IN "
	columnsSQL = "SELECT TABLE_SCHEMA, TABLE_NAME, COLUMN_NAME, DATA_TYPE, GENERATION_EXPRESSION FROM information_schema.COLUMNS WHERE TABLE_SCHEMA IN "
	// privilegesSQL returns what the account may do with each column that it sees.
	privilegesSQL = "SELECT TABLE_SCHEMA, TABLE_NAME, COLUMN_NAME, PRIVILEGES FROM information_schema.COLUMNS WHERE TABLE_SCHEMA IN "
	columnsOrder  = relationsOrder + ", ORDINAL_POSITION"

	viewsSQL = "SELECT TABLE_SCHEMA, TABLE_NAME, VIEW_DEFINITION FROM information_schema.VIEWS WHERE TABLE_SCHEMA IN "

	routinesSQL = "SELECT ROUTINE_SCHEMA, ROUTINE_NAME, ROUTINE_TYPE, ROUTINE_BODY, ROUTINE_DEFINITION, SQL_DATA_ACCESS, SECURITY_TYPE, SQL_MODE " +
		"FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA IN "
	parametersSQL = "SELECT SPECIFIC_SCHEMA, SPECIFIC_NAME, ROUTINE_TYPE, ORDINAL_POSITION, DATA_TYPE FROM information_schema.PARAMETERS WHERE SPECIFIC_SCHEMA IN "

	inventorySchemasSQL = "SELECT SCHEMA_NAME FROM information_schema.SCHEMATA ORDER BY SCHEMA_NAME"
	systemRelationsSQL  = "SELECT TABLE_SCHEMA, TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA IN ('information_schema') ORDER BY TABLE_SCHEMA, TABLE_NAME"
)

// The columns of relationsSQL after the names.
const (
	relationType = 2 + iota
	relationEngine
)

func routinesIn(databases string) string {
	return databases + " ORDER BY CAST(ROUTINE_SCHEMA AS BINARY), CAST(ROUTINE_NAME AS BINARY), ROUTINE_TYPE"
}

func parametersIn(databases string) string {
	return databases + " ORDER BY CAST(SPECIFIC_SCHEMA AS BINARY), CAST(SPECIFIC_NAME AS BINARY), ROUTINE_TYPE, ORDINAL_POSITION"
}
