package index

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"slices"
	"strings"

	"github.com/ncruces/go-sqlite3"

	"github.com/ktxhq/ktx/execution/audit"
)

// nameKind says what a name is the name of.
type nameKind int

// The kinds of names. The file has these numbers.
const (
	namePrincipal nameKind = iota + 1
	nameClient
	nameConnection
	nameSession
	nameAddress
	nameReason
	nameVerdict
	nameRun
	nameStatus
	nameType
	nameKindOf // of a statement, such as select
	nameCode
	nameTable
	nameFunction
)

// maxCached bounds each cache of a writer.
const maxCached = 50_000

// name returns the number of a name, and 0 for no name.
func (w *writer) name(ctx context.Context, kind nameKind, text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	key := nameKey{kind, text}
	if id, ok := w.names[key]; ok {
		return id, nil
	}
	if len(w.names) >= maxCached {
		clear(w.names)
	}
	id, err := w.number(ctx, `SELECT id FROM name WHERE kind = ? AND text = ?`, int(kind), text)
	if err == nil && id == 0 {
		id, err = w.number(ctx, `INSERT INTO name (kind, text) VALUES (?, ?) RETURNING id`, int(kind), text)
	}
	if err == nil {
		w.names[key] = id
	}
	return id, err
}

// codeset is the codes of a statement. The file has it as JSON.
type codeset struct {
	Decision []string `json:"d,omitempty"`
	Result   string   `json:"r,omitempty"`
}

// all returns each code once.
func (c codeset) all() []string {
	if c.Result == "" || slices.Contains(c.Decision, c.Result) {
		return c.Decision
	}
	return append(slices.Clone(c.Decision), c.Result)
}

// codeset returns the number of the codes of a statement, and 0 for none.
func (w *writer) codeset(ctx context.Context, codes codeset) (int64, error) {
	if len(codes.Decision) == 0 && codes.Result == "" {
		return 0, nil
	}
	data, err := json.Marshal(codes)
	if err != nil {
		return 0, err
	}
	key := string(data)
	if id, ok := w.codesets[key]; ok {
		return id, nil
	}
	if len(w.codesets) >= maxCached {
		clear(w.codesets)
	}
	id, err := w.number(ctx, `SELECT id FROM codeset WHERE key = ?`, key)
	if err == nil && id == 0 {
		if id, err = w.number(ctx, `INSERT INTO codeset (key) VALUES (?) RETURNING id`, key); err == nil {
			err = w.link(ctx, `INSERT OR IGNORE INTO code VALUES (?, ?)`, nameCode, codes.all(), id)
		}
	}
	if err == nil {
		w.codesets[key] = id
	}
	return id, err
}

// link writes one row for each name of a list.
func (w *writer) link(ctx context.Context, text string, kind nameKind, names []string, to int64) error {
	for _, name := range names {
		id, err := w.name(ctx, kind, name)
		if err == nil {
			err = w.run(ctx, text, id, to)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// shape returns the number of a statement's form: what it is without literals.
func (w *writer) shape(ctx context.Context, s audit.SQL) (int64, error) {
	if s.Fingerprint == "" && s.Normalized == "" && s.Kind == "" && len(s.Tables) == 0 && len(s.Functions) == 0 {
		return 0, nil
	}
	data, err := json.Marshal([]any{s.Fingerprint, s.Normalized, s.Kind, s.Tables, s.Functions})
	if err != nil {
		return 0, err
	}
	sum := sha256.Sum256(data)
	key := [16]byte(sum[:16])
	if id, ok := w.shapes[key]; ok {
		return id, nil
	}
	if len(w.shapes) >= maxCached {
		clear(w.shapes)
	}
	id, err := w.number(ctx, `SELECT id FROM shape WHERE key = ?`, key[:])
	if err == nil && id == 0 {
		id, err = w.newShape(ctx, key, s)
	}
	if err == nil {
		w.shapes[key] = id
	}
	return id, err
}

func (w *writer) newShape(ctx context.Context, key [16]byte, s audit.SQL) (int64, error) {
	kind, err := w.name(ctx, nameKindOf, s.Kind)
	if err != nil {
		return 0, err
	}
	id, err := w.number(ctx, `INSERT INTO shape (key, fingerprint, kind, text) VALUES (?, ?, ?, ?) RETURNING id`,
		key[:], textNumber(s.Fingerprint), kind, s.Normalized)
	if err != nil {
		return 0, err
	}
	if err := w.link(ctx, `INSERT OR IGNORE INTO relation VALUES (?, ?)`, nameTable, s.Tables, id); err != nil {
		return 0, err
	}
	if err := w.link(ctx, `INSERT OR IGNORE INTO function VALUES (?, ?)`, nameFunction, s.Functions, id); err != nil {
		return 0, err
	}
	return id, w.run(ctx, `INSERT INTO search (rowid, text) VALUES (?, ?)`, id, searchable(s.Normalized))
}

// searchable returns a text as it is searched. NUL would end it for the engine.
func searchable(text string) string {
	return strings.ReplaceAll(strings.ToLower(text), "\x00", " ")
}

// texts returns the names of a kind that are wanted, by number.
func (v *view) texts(kind nameKind, wanted func(string) bool) (ids []int64, err error) {
	err = v.each(v.ctx, `SELECT id, text FROM name WHERE kind = ?`, []any{int(kind)}, func(s *sqlite3.Stmt) bool {
		if wanted(s.ColumnText(1)) {
			ids = append(ids, s.ColumnInt64(0))
		}
		return true
	})
	return ids, err
}
