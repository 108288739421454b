// Command mysqlwalk makes the walk over marino's tree from the walk over the
// tree of TiDB's parser, from which marino comes: both trees have the same types
// under other import paths, but for what marino has more.
//
//	mysqlwalk -dir DIR tidb_query.go tidb_expression.go
//
// writes marino_query.go and marino_expression.go beside them. Import paths and
// the prefix tidb of names are replaced, and nothing else. The program is not
// part of the shipped binary.
package main
