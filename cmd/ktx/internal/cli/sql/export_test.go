package sql

// WriteParquet is writeParquet.
var WriteParquet = writeParquet

// FixFiles is for tests.
var FixFiles = fixFiles
