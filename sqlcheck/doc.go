// Package sqlcheck judges the statements of files: [Find] finds the files, and
// [Run] settles the dialect and policy of each, splits it and asks the guard.
//
// A file that cannot be judged is a finding, never skipped in silence. The
// package holds no rule about SQL.
package sqlcheck
