// Command mysqlwalk generates the walk over marino's tree from the walk over the tree
// of TiDB's parser. marino is derived from that parser: both trees have the same types
// under other import paths, except for the types that only marino has.
//
//	mysqlwalk -dir DIR tidb_query.go tidb_expression.go
//
// writes marino_query.go and marino_expression.go to the same directory. It replaces
// import paths and the prefix tidb of names, and changes nothing else. The program is
// not part of the shipped binary.
package main
