// Package search ranks the tables and columns of scans by a question. It is the lane of
// discover_data that needs no wiki and no semantic layer.
//
// [Build] makes the [Index] of one connection, from the tables of one scan. [Search]
// ranks the tables and columns of one or more indexes. [Open] is Build with a cache below
// .ktx/.
//
// The package knows nothing of access rules: what a caller must not see, must not be in
// the tables that the index is built from.
package search
