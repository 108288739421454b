// Package cli is the command line of ktx. [Main] is its only function.
//
// The package builds the tree of commands. Each folder below it is a family of
// commands, which holds flags, calls and printing only; families do not import
// each other. The folder console has what they share, and wiring joins the
// configuration to dialects, backends and the audit log.
//
// Results go to standard output, everything else to standard error. The exit
// code is 0 when all is well, 1 when a statement was refused or a check found
// something, 2 for wrong usage or configuration, and 3 when something could not
// be done. The package holds no rule about SQL.
package cli
