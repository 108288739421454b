// Package litestore keeps the state of skills in one SQLite file: uses, ratings and
// vectors. It is for one project on one machine; several processes may use the file at
// once.
//
// It sends constant statements only, to a file of its own. It never opens a database of a
// user.
package litestore
