// Package sqlcheck checks the SQL in files. [Find] finds the files.
// [Checker.Run] chooses the guard for each file, splits the file into
// statements, and asks the guard about each statement.
//
//	inputs, err := sqlcheck.Find([]string{"models"}, "stdin")
//	c := sqlcheck.Checker{Choose: choose, Today: time.Now()}
//	files, err := c.Run(ctx, inputs)
//
// The package never skips a file in silence: a file that cannot be judged gets
// a finding. It never runs a statement, and it holds no rule about SQL.
package sqlcheck
