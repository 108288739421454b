package pgstore

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// A statement is a text that this package sends. All of them are constants, which a test
// sees to; values are bound.
type statement string

// sender is a transaction. It binds values and reads rows as texts, and gives statements
// no names at the server, so that a pooler may stand before it.
type sender struct{ conn *pgconn.PgConn }

// exec runs a statement that answers no rows.
func (s sender) exec(ctx context.Context, sql statement, args ...any) error {
	return s.rows(ctx, func([]string) error { return nil }, sql, args...)
}

// rows calls f for each row of a statement. A NULL is an empty text.
func (s sender) rows(ctx context.Context, f func(row []string) error, sql statement, args ...any) error {
	values := make([][]byte, len(args))
	for i, arg := range args {
		text, err := bound(arg)
		if err != nil {
			return err
		}
		values[i] = []byte(text)
	}
	r := s.conn.ExecParams(ctx, string(sql), values, nil, nil, nil).Read()
	if r.Err != nil {
		return r.Err
	}
	for _, cells := range r.Rows {
		row := make([]string, len(cells))
		for i, c := range cells {
			row[i] = string(c)
		}
		if err := f(row); err != nil {
			return err
		}
	}
	return nil
}

// bound returns a value as the server reads it.
func bound(arg any) (string, error) {
	switch v := arg.(type) {
	case string:
		if strings.ContainsRune(v, 0) {
			return "", errors.New("PostgreSQL keeps no text with a NUL character")
		}
		return v, nil
	case bool:
		return strconv.FormatBool(v), nil
	case int:
		return strconv.Itoa(v), nil
	case time.Time:
		return v.Format(time.RFC3339Nano), nil
	case []string:
		quoted := make([]string, len(v))
		for i, text := range v {
			quoted[i] = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
		}
		return "{" + strings.Join(quoted, ",") + "}", nil
	default:
		return "", fmt.Errorf("no text for a %T", arg)
	}
}

// transact runs f in a transaction.
func (s *Store) transact(ctx context.Context, f func(sender) error) error {
	tx := sender{s.conn}
	if err := tx.exec(ctx, "BEGIN"); err != nil {
		return err
	}
	if err := f(tx); err != nil {
		if tx.exec(ctx, "ROLLBACK") != nil {
			_ = s.conn.Close(ctx) // the server rolls back what is open
		}
		return err
	}
	return tx.exec(ctx, "COMMIT")
}
