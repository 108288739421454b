package catalog

import "unicode/utf8"

// What is read of artifacts, which may come from strangers. Real scans are far
// below.
const (
	maxScans      = 10_000    // folders of scans of a connection
	maxTables     = 200_000   // table files of a scan
	maxColumns    = 2_000_000 // of a scan
	maxTableBytes = 16 << 20  // a table file
	maxSmallBytes = 1 << 20   // connection.json, scan-report.json
	maxExtraBytes = 256 << 20 // the profile, relationships.json
	maxScanBytes  = 1 << 30   // all table files

	maxTableColumns = 30_000 // SQL Server has the most
	maxTableKeys    = 30_000
	maxName         = 1024     // bytes of a name
	maxType         = 4 << 10  // bytes of a type: an enum may list its values
	maxText         = 16 << 10 // bytes of a comment or description; the rest is cut
	maxSources      = 16       // descriptions of one thing
	maxSamples      = 50       // values of a column; further ones are left out
	maxSample       = 1024     // bytes; a longer value is left out
	maxLabels       = 65_535   // of an enum: MySQL has the most
	maxRelations    = 200_000  // in relationships.json
	maxRelationCols = 16       // columns of one side
	maxWarnings     = 100      // that a snapshot keeps
)

// cut returns the first n bytes of s, without a broken character at the end.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
