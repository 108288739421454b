// Package console is what all commands of ktx share: the streams that they
// read and write, exit codes and errors, JSON, tables and progress.
//
// A command is made by a constructor that takes the [App] of the run, and
// returns an error made by [Usage], [Failed] or the packages it calls:
//
//	func Command(a *console.App) *cobra.Command
//
// Results go to standard output and everything else to standard error. Text
// that comes from a file, a server or a user passes [EscapeControls] before it
// is printed, so that a terminal acts on nothing in it. The package opens no
// project, no connection and no log.
package console
