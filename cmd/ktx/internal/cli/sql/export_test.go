package sql

// WriteParquet is writeParquet.
var WriteParquet = writeParquet
