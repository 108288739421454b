// Package fresh makes projects: the one that ktx init writes, the demo shop in a
// temporary folder, and one for a single address that a user gives instead of a
// project.
//
// It never writes a credential, and never overwrites a file of a user.
package fresh
