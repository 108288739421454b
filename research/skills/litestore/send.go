package litestore

import (
	"errors"
	"fmt"

	"github.com/ncruces/go-sqlite3"
)

// A statement is a text that this package sends. All of them are constants, which a test
// sees to; values are bound.
type statement string

// exec runs a statement without values.
func exec(conn *sqlite3.Conn, sql statement) error { return conn.Exec(string(sql)) }

// transact runs f in a transaction that holds the file from its start.
func transact(conn *sqlite3.Conn, f func() error) (err error) {
	tx, err := conn.BeginImmediate()
	if err != nil {
		return err
	}
	defer tx.End(&err)
	return f()
}

// number returns the one number that a statement answers.
func number(conn *sqlite3.Conn, sql statement, args ...any) (int64, error) {
	n := int64(0)
	err := rows(conn, func(stmt *sqlite3.Stmt) error {
		n = stmt.ColumnInt64(0)
		return nil
	}, sql, args...)
	return n, err
}

// rows calls f for each row of a statement.
func rows(conn *sqlite3.Conn, f func(*sqlite3.Stmt) error, sql statement, args ...any) (err error) {
	stmt, _, err := conn.Prepare(string(sql))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stmt.Close()) }()
	if err := bind(stmt, args...); err != nil {
		return err
	}
	for stmt.Step() {
		if err := f(stmt); err != nil {
			return err
		}
	}
	return stmt.Err()
}

func bind(stmt *sqlite3.Stmt, args ...any) error {
	for i, arg := range args {
		var err error
		switch v := arg.(type) {
		case string:
			err = stmt.BindText(i+1, v)
		case int:
			err = stmt.BindInt(i+1, v)
		case int64:
			err = stmt.BindInt64(i+1, v)
		case []byte:
			err = stmt.BindBlob(i+1, v)
		default:
			err = fmt.Errorf("a %T cannot be sent", arg)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
