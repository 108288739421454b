// Command pgwalk writes the typed tree walker of package postgres from the
// parser's own types.
//
//	CGO_ENABLED=1 pgwalk -dir DIR -out walk_gen_cgo.go
//	CGO_ENABLED=0 pgwalk -dir DIR -out walk_gen_nocgo.go
//
// The two settings link two different parsers, whose trees differ in some
// fields and kinds: hence two files, one per build. Kinds and their order come
// from the parser's message descriptor; the names of Go fields and wrappers
// come from reflection on its Go types, so that no exception to a naming rule
// has to be kept here.
//
// The walker visits every field that holds a node, directly or in a list. A
// method judgeKIND of *walker in DIR takes the place of the plain visit of
// that kind. The program is not part of the shipped binary.
package main
