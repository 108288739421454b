// Package setup writes the entry of ktx into the settings of MCP clients,
// together with a skill file that tells an agent how to use ktx. It also
// removes both.
//
//	plan, err := setup.Install(machine, endpoint, selected) // or setup.Uninstall
//	err = plan.Apply()
//
// [Targets] is the table of clients. [Install] and [Uninstall] make a [Plan]
// from the current files: a step for each location, and each file before and
// after. [Plan.Apply] writes the files. Before that, it writes a manifest into
// the project, which lists what it is going to write. So Uninstall finds
// everything even after a crash.
//
// The package never writes a token, only the client's reference to the variable
// that holds the token. It never changes what it did not write: a foreign entry
// of the same name, an entry or a skill file that was edited since, or a file
// that cannot be edited without loss.
package setup
