package pgstore

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// A statement is a text that this package sends. All of them are constants, which a test
// sees to; values are bound.
type statement string

// sender is a transaction.
type sender struct{ tx pgx.Tx }

// exec runs a statement that answers no rows.
func (s sender) exec(ctx context.Context, sql statement, args ...any) error {
	_, err := s.tx.Exec(ctx, string(sql), args...)
	return err
}

// rows calls f for each row of a statement.
func (s sender) rows(ctx context.Context, f func(pgx.Rows) error, sql statement, args ...any) error {
	rows, err := s.tx.Query(ctx, string(sql), args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := f(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// transact runs f in a transaction.
func (s *Store) transact(ctx context.Context, f func(sender) error) error {
	return pgx.BeginFunc(ctx, s.conn, func(tx pgx.Tx) error { return f(sender{tx}) })
}
