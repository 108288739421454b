package search

// weights are the figures of the ranking. docs/evidence/discovery-quality.md says how
// they were chosen.
type weights struct {
	// Of a word in a text of a table and of a column, compared to other texts.
	tableName, tableColumns, tableText, tableSamples            float64
	columnName, columnNameLong, columnTable, columnText         float64
	columnTextLong, columnSamples                               float64
	tableNameB, tableColumnsB, columnNameB, columnTableB, textB float64

	bestColumns float64 // of the best columns of a table, for the table
	neighbour   float64 // of the best table that a key connects, for the table
	ownTable    float64 // of its table, for a column
	place       float64 // of the names of connection and schema
	evidence    float64 // of the other objects of the connection
	wiki        float64 // of a page that names the object
	usage       float64 // of statements that read it
	columnShare float64 // of a column beside tables
}

var chosen = weights{
	tableName: 3, tableColumns: 1, tableText: 0.9, tableSamples: 0.3,
	columnName: 3, columnNameLong: 1.5, columnTable: 1.1, columnText: 1, columnTextLong: 0.5, columnSamples: 0.5,
	tableNameB: 0.5, tableColumnsB: 0.75, columnNameB: 0.5, columnTableB: 0.5, textB: 0.75,
	bestColumns: 0.4, neighbour: 0.15, ownTable: 0.3, place: 0.5, evidence: 0.3, wiki: 0.3, usage: 0.1, columnShare: 1,
}
