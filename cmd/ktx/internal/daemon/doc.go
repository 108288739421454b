// Package daemon manages the one background server that a project may have: its
// state file, its process and its log.
//
//	state, err := daemon.Read(dir)      // fs.ErrNotExist when none was started
//	answer := state.Probe(ctx)          // who answers at its address
//	err = daemon.Spawn(cmd, log)        // a process that outlives its parent
//
// A process id alone does not identify the server, because the process may have
// ended and the id may belong to another one. The server proves itself when
// /health answers with the nonce of the state file. The package never ends a process
// that did not prove itself.
package daemon
