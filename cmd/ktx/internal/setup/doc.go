// Package setup writes the entry of ktx into the settings of MCP clients, and
// the skill that tells an agent how to use it; and takes both out again.
//
// Targets is the table of clients. Install and Uninstall make a [Plan] from what
// the files hold now: what becomes of each place, and the files before and
// after. Plan.Apply writes it. The manifest in the project lists what was
// written, before it is, so that Uninstall finds it even after a crash.
//
// It never writes a token, only the client's own reference to the variable that
// holds it, and it never changes what it did not write: another entry of the
// same name, an entry or a skill file that was edited since, a file that cannot
// be edited without loss.
package setup
