// Package daemon keeps track of the one server that a project may have: its
// state file, whether the process behind it is really that server, and its log.
//
//	state, err := daemon.Read(dir)      // fs.ErrNotExist when none was started
//	answer := state.Probe(ctx)          // who answers at its address
//	err = daemon.Spawn(cmd, log)        // a process that outlives its parent
//
// A process id alone proves nothing: the process may have ended, and another
// got its number. The nonce of the state file does, when /health answers with
// it. Nothing here ends a process that did not prove itself so.
package daemon
