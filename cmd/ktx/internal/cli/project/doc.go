// Package project is the commands that make and examine a project: init,
// config, connection, status, doctor and demo.
//
// The configuration file is read by the package project beside cli. No command
// here runs a statement of a user.
package project
