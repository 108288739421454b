// Package research has the commands that ask what a project knows of its data:
// scans, values and pages. Each command calls the method of a tool of the package
// research of this module, and prints its answer.
package research
