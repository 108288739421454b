// Package sql is the commands that take SQL: ktx sql runs one statement, ktx sql
// check judges files, and ktx explain explains a code.
//
// Statements run through the gateway, like those of an agent. The check of
// files is in sqlcheck. The package holds no rule about SQL.
package sql
