// Package cli is the command line of ktx: one file per command, one table
// (wire.go) from engines to dialects and backends, one function, [Main].
//
// Results go to standard output, everything else to standard error. The exit
// code is 0 when all is well, 1 when a statement was refused or a finding was
// made, 2 for wrong usage or configuration, and 3 when something could not be
// done. The package holds no rule about SQL.
package cli
