package litestore

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/ktxhq/ktx/research/skills"
)

// Store is a [skills.State] in a file. The file is made at the first write.
type Store struct {
	path string

	mu   sync.Mutex
	conn *sqlite3.Conn
	// kept are the vectors of the last model that was searched, while the file does not
	// change.
	kept keptVectors
}

var _ skills.State = (*Store)(nil)

// New returns a store over a file. It opens nothing: a store that is never asked makes no
// file.
func New(path string) *Store { return &Store{path: path} }

// busyTime is how long a statement waits for another process.
const busyTime = 5 * time.Second

// schemaVersion is kept in the file as user_version.
const schemaVersion = 1

const schema = `
CREATE TABLE uses (name TEXT PRIMARY KEY, uses INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE ratings (name TEXT NOT NULL, rater TEXT NOT NULL, stars INTEGER NOT NULL, comment TEXT NOT NULL, time INTEGER NOT NULL, PRIMARY KEY (name, rater)) WITHOUT ROWID;
CREATE TABLE vectors (model TEXT NOT NULL, dimensions INTEGER NOT NULL, text TEXT NOT NULL, status TEXT NOT NULL, embedding BLOB NOT NULL, PRIMARY KEY (model, dimensions, text)) WITHOUT ROWID;
PRAGMA user_version = 1;
`

// Close closes the file.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn == nil {
		return nil
	}
	err := s.conn.Close()
	s.conn = nil
	return err
}

// with calls f with the open file. If write is not set and there is no file, it does not
// call f: an empty answer is right.
func (s *Store) with(ctx context.Context, write bool, f func(*sqlite3.Conn) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn == nil {
		if _, err := os.Stat(s.path); !write && errors.Is(err, os.ErrNotExist) {
			return nil
		}
		if err := s.open(); err != nil {
			return fmt.Errorf("open %s: %w", filepath.Base(s.path), err)
		}
	}
	defer s.conn.SetInterrupt(s.conn.SetInterrupt(ctx))
	if err := f(s.conn); err != nil {
		return fmt.Errorf("%s: %w", filepath.Base(s.path), err)
	}
	return nil
}

func (s *Store) open() (err error) {
	if err := os.MkdirAll(filepath.Dir(s.path), 0o700); err != nil {
		return err
	}
	// SQLite makes a file that everybody may read.
	file, err := os.OpenFile(s.path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	_ = file.Close()
	conn, err := sqlite3.OpenFlags(s.path, sqlite3.OPEN_READWRITE)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = conn.Close()
		}
	}()
	if err := conn.BusyTimeout(busyTime); err != nil {
		return err
	}
	if err := transact(conn, func() error {
		version, err := number(conn, "PRAGMA user_version")
		switch {
		case err != nil:
			return err
		case version == schemaVersion:
			return nil
		case version != 0:
			return fmt.Errorf("it has version %d, and this ktx reads version %d; delete it, and uses, ratings and vectors begin anew", version, schemaVersion)
		}
		return exec(conn, schema)
	}); err != nil {
		return err
	}
	s.conn = conn
	return nil
}

// Counts implements [skills.State].
func (s *Store) Counts(ctx context.Context, names []string) (map[string]skills.Counts, error) {
	out := map[string]skills.Counts{}
	wanted := map[string]bool{}
	for _, name := range names {
		wanted[name] = true
	}
	err := s.with(ctx, false, func(conn *sqlite3.Conn) error {
		err := rows(conn, func(stmt *sqlite3.Stmt) error {
			name := stmt.ColumnText(0)
			if names == nil || wanted[name] {
				out[name] = skills.Counts{Uses: stmt.ColumnInt(1)}
			}
			return nil
		}, "SELECT name, uses FROM uses")
		if err != nil {
			return err
		}
		return rows(conn, func(stmt *sqlite3.Stmt) error {
			name := stmt.ColumnText(0)
			if names == nil || wanted[name] {
				c := out[name]
				c.Stars[stmt.ColumnInt(1)-1] = stmt.ColumnInt(2)
				out[name] = c
			}
			return nil
		}, "SELECT name, stars, count(*) FROM ratings WHERE stars BETWEEN 1 AND 5 GROUP BY name, stars")
	})
	return out, err
}

// Use implements [skills.State].
func (s *Store) Use(ctx context.Context, name string) error {
	return s.with(ctx, true, func(conn *sqlite3.Conn) error {
		return rows(conn, none, "INSERT INTO uses VALUES (?, 1) ON CONFLICT (name) DO UPDATE SET uses = uses + 1", name)
	})
}

func none(*sqlite3.Stmt) error { return nil }

// Rate implements [skills.State].
func (s *Store) Rate(ctx context.Context, r skills.Rating) error {
	if err := r.Validate(); err != nil {
		return err
	}
	return s.with(ctx, true, func(conn *sqlite3.Conn) error {
		return rows(conn, none, "INSERT OR REPLACE INTO ratings VALUES (?, ?, ?, ?, ?)", r.Skill, r.Rater, r.Stars, r.Comment, r.Time.Unix())
	})
}

// Ratings implements [skills.State].
func (s *Store) Ratings(ctx context.Context, name string, limit int) ([]skills.Rating, error) {
	out := []skills.Rating{}
	err := s.with(ctx, false, func(conn *sqlite3.Conn) error {
		return rows(conn, func(stmt *sqlite3.Stmt) error {
			out = append(out, skills.Rating{Skill: name, Rater: stmt.ColumnText(0), Stars: stmt.ColumnInt(1), Comment: stmt.ColumnText(2), Time: time.Unix(stmt.ColumnInt64(3), 0).UTC()})
			return nil
		}, "SELECT rater, stars, comment, time FROM ratings WHERE name = ? ORDER BY time DESC, rater LIMIT ?", name, limit)
	})
	return out, err
}

// The status of a vector.
const (
	published = "published"
	retired   = "retired"
)

// Publish implements [skills.State].
func (s *Store) Publish(ctx context.Context, model skills.Model, texts []string) error {
	now := map[string]bool{}
	for _, t := range texts {
		now[t] = true
	}
	return s.with(ctx, true, func(conn *sqlite3.Conn) error {
		return transact(conn, func() error {
			changes := map[string]string{}
			err := rows(conn, func(stmt *sqlite3.Stmt) error {
				text, status := stmt.ColumnText(0), retired
				if now[text] {
					status = published
				}
				if stmt.ColumnText(1) != status {
					changes[text] = status
				}
				return nil
			}, "SELECT text, status FROM vectors WHERE model = ? AND dimensions = ?", model.Name, model.Dimensions)
			for text, status := range changes {
				if err == nil {
					err = rows(conn, none, "UPDATE vectors SET status = ? WHERE model = ? AND dimensions = ? AND text = ?", status, model.Name, model.Dimensions, text)
				}
			}
			return err
		})
	})
}

// Missing implements [skills.State].
func (s *Store) Missing(ctx context.Context, model skills.Model, texts []string) ([]string, error) {
	known := map[string]bool{}
	err := s.with(ctx, false, func(conn *sqlite3.Conn) error {
		return rows(conn, func(stmt *sqlite3.Stmt) error {
			known[stmt.ColumnText(0)] = true
			return nil
		}, "SELECT text FROM vectors WHERE model = ? AND dimensions = ?", model.Name, model.Dimensions)
	})
	return slices.DeleteFunc(slices.Clone(texts), func(t string) bool { return known[t] }), err
}

// Put implements [skills.State].
func (s *Store) Put(ctx context.Context, model skills.Model, vectors []skills.Vector) error {
	for _, v := range vectors {
		if err := v.Validate(model); err != nil {
			return err
		}
	}
	return s.with(ctx, true, func(conn *sqlite3.Conn) error {
		return transact(conn, func() error {
			for _, v := range vectors {
				b := make([]byte, 0, 4*len(v.Values))
				for _, x := range v.Values {
					b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
				}
				if err := rows(conn, none, "INSERT OR REPLACE INTO vectors VALUES (?, ?, ?, ?, ?)", model.Name, model.Dimensions, v.Text, published, b); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// Vectors implements [skills.State].
func (s *Store) Vectors(ctx context.Context, model skills.Model) (n int, err error) {
	err = s.with(ctx, false, func(conn *sqlite3.Conn) error {
		count, err := number(conn, "SELECT count(*) FROM vectors WHERE model = ? AND dimensions = ? AND status = ?", model.Name, model.Dimensions, published)
		n = int(count)
		return err
	})
	return n, err
}

// Vector implements [skills.State].
func (s *Store) Vector(ctx context.Context, model skills.Model, text string) (vector []float32, err error) {
	err = s.with(ctx, false, func(conn *sqlite3.Conn) error {
		return rows(conn, func(stmt *sqlite3.Stmt) error {
			vector = decode(stmt.ColumnRawBlob(0), model)
			return nil
		}, "SELECT embedding FROM vectors WHERE model = ? AND dimensions = ? AND text = ?", model.Name, model.Dimensions, text)
	})
	return vector, err
}

// decode returns a vector, or nil for bytes that are none of the model.
func decode(b []byte, model skills.Model) []float32 {
	if len(b) != 4*model.Dimensions {
		return nil
	}
	out := make([]float32, model.Dimensions)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return out
}

// keptVectors are the published vectors of a model.
type keptVectors struct {
	model   skills.Model
	version int64 // of the file, as this connection sees it
	changes int64 // by this connection
	vectors []skills.Vector
}

// vectors returns the published vectors of a model. It reads them again only after a
// change.
func (s *Store) vectors(conn *sqlite3.Conn, model skills.Model) ([]skills.Vector, error) {
	version, err := number(conn, "PRAGMA data_version")
	if err != nil {
		return nil, err
	}
	changes := conn.TotalChanges()
	if s.kept.vectors != nil && s.kept.model == model && s.kept.version == version && s.kept.changes == changes {
		return s.kept.vectors, nil
	}
	list := []skills.Vector{}
	err = rows(conn, func(stmt *sqlite3.Stmt) error {
		if v := decode(stmt.ColumnRawBlob(1), model); v != nil {
			list = append(list, skills.Vector{Text: strings.Clone(stmt.ColumnText(0)), Values: v})
		}
		return nil
	}, "SELECT text, embedding FROM vectors WHERE model = ? AND dimensions = ? AND status = ?", model.Name, model.Dimensions, published)
	if err != nil {
		return nil, err
	}
	s.kept = keptVectors{model, version, changes, list}
	return list, nil
}

// Nearest implements [skills.State]. It compares all vectors.
func (s *Store) Nearest(ctx context.Context, model skills.Model, vector []float32, limit int) ([]skills.Near, error) {
	if err := (skills.Vector{Text: "question", Values: vector}).Validate(model); err != nil {
		return nil, err
	}
	out := []skills.Near{}
	err := s.with(ctx, false, func(conn *sqlite3.Conn) error {
		list, err := s.vectors(conn, model)
		if err != nil {
			return err
		}
		for _, v := range list {
			out = append(out, skills.Near{Text: v.Text, Similarity: skills.Similarity(vector, v.Values)})
		}
		return nil
	})
	slices.SortFunc(out, func(a, b skills.Near) int {
		return cmp.Or(cmp.Compare(b.Similarity, a.Similarity), strings.Compare(a.Text, b.Text))
	})
	return out[:min(limit, len(out))], err
}
