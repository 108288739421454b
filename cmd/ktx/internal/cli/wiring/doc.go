// Package wiring joins a project's configuration to dialects, backends and the
// audit log.
//
// The table engines in wire.go is the only one from a driver's name to its
// dialect and backend. [WithGateway] opens the audit log and the gateway of the
// project at hand for as long as a function runs; [NewFileGuards] makes the
// guards for files, which need neither. The package prints warnings only, and
// holds no rule about SQL.
package wiring
