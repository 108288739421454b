package search

// weights are the figures of the ranking. docs/evidence/discovery-quality.md says how
// they were chosen.
type weights struct {
	// Of a word in a text of a table and of a column, compared to other texts. A column
	// name counts less if most columns have a long comment.
	tableName, tableColumns, tableText, tableSamples     float64
	columnName, columnTable, columnText, columnSamples   float64
	columnNameLong, columnTextLong                       float64
	tableNameB, tableColumnsB, columnNameB, columnTableB float64
	textB                                                float64

	bestColumns   float64 // of the best columns of a table, for the table
	neighbour     float64 // of the best table that a key connects, for the table
	ownTable      float64 // of its table, for a column
	key           float64 // of the lesser of the two tables that a key connects, for its columns
	place         float64 // of the names of connection and schema, for a table
	evidence      float64 // of the best that the schema has for each word, for a table
	evidenceShare float64 // the exponent of the number of columns that evidence is divided by
	wiki          float64 // of a page that names the object, compared to the best object
	usage         float64 // of statements that read the object, compared to its score
}

var chosen = weights{
	tableName: 3, tableColumns: 1, tableText: 0.9, tableSamples: 0.3,
	columnName: 2.5, columnTable: 1.2, columnText: 1, columnSamples: 0.5,
	columnNameLong: 1.5, columnTextLong: 0.5,
	tableNameB: 0.75, tableColumnsB: 0.6, columnNameB: 0.5, columnTableB: 0.5,
	textB: 0.75,

	bestColumns: 0.4, neighbour: 0.15, ownTable: 0.3, key: 0.1,
	place: 0.1, evidence: 1.2, evidenceShare: 0.3,
	wiki: 0.3, usage: 0.1,
}
