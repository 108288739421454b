package semantic

import (
	"encoding/json"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/ktxhq/ktx/research/rootfile"
	"github.com/ktxhq/ktx/research/semantic/emit"
	"github.com/ktxhq/ktx/research/semantic/model"
)

// Check is a question to the database about what a file says. SQL returns one row with
// one number, and 0 means that the file is right.
type Check struct {
	Source string
	Path   string // in the source, as joins[0]
	Join   int    // in the source; -1 for its grain
	Kind   CheckKind
	Of     string // the source whose rows are counted
	Place  model.Place
	SQL    string
	// Fatal says that a number above 0 makes answers wrong. Other checks tell what
	// answers will have, such as a group for rows without a partner.
	Fatal bool
}

// CheckKind is what a check counts.
type CheckKind string

// The kinds of checks.
const (
	GrainDuplicates CheckKind = "grain_duplicates" // values of the grain that several rows have
	Orphans         CheckKind = "orphans"          // rows whose key has no partner
	NullKeys        CheckKind = "null_keys"        // rows without a key
	KeyDuplicates   CheckKind = "key_duplicates"   // keys of the one side of a join that several rows have
)

// Checks returns the questions about one source. The error names what the engine cannot
// take.
func (s *Snapshot) Checks(source int, d emit.Dialect) ([]Check, error) {
	q := &question{dialect: d}
	out := s.checks(source, q)
	return out, q.err
}

func (s *Snapshot) checks(source int, q *question) []Check {
	from := s.model.Sources[source]
	if from.Invalid || from.Denied {
		return nil
	}
	var out []Check
	if columns, ok := plain(from, from.Grain); ok {
		out = append(out, Check{
			Source: from.Name, Path: "grain", Join: -1, Kind: GrainDuplicates, Fatal: true,
			Of: from.Name, Place: from.GrainPlace(), SQL: q.duplicates(from, columns),
		})
	}
	for i, j := range from.Joins {
		if j.Disabled || j.Target < 0 || s.model.Sources[j.Target].Invalid {
			continue
		}
		target := s.model.Sources[j.Target]
		var here, there []int
		for _, p := range j.Pairs {
			here, there = append(here, p.From), append(there, p.To)
		}
		left, ok := plain(from, here)
		right, also := plain(target, there)
		if !ok || !also {
			continue
		}
		at := fmt.Sprintf("joins[%d]", i)
		many, one, manyColumns, oneColumns := from, target, left, right
		if j.Kind == model.OneToMany {
			many, one, manyColumns, oneColumns = target, from, right, left
		}
		add := func(kind CheckKind, of *model.Source, fatal bool, sql string) {
			out = append(out, Check{Source: from.Name, Path: at, Join: i, Kind: kind, Of: of.Name, Place: j.Place(), Fatal: fatal, SQL: sql})
		}
		add(KeyDuplicates, one, true, q.duplicates(one, oneColumns))
		add(NullKeys, many, false, q.nullKeys(many, manyColumns))
		add(Orphans, many, false, q.orphans(many, one, manyColumns, oneColumns))
		if j.Kind == model.OneToOne {
			add(KeyDuplicates, many, true, q.duplicates(many, manyColumns))
		}
	}
	return out
}

// plain returns the names of columns, unless one of them is computed.
func plain(s *model.Source, columns []int) (names []string, ok bool) {
	for _, c := range columns {
		if s.Columns[c].Expr != nil {
			return nil, false
		}
		names = append(names, s.Columns[c].Name)
	}
	return names, len(names) > 0
}

// question writes checks of one engine. The first name that the engine cannot take is an
// error.
type question struct {
	dialect emit.Dialect
	err     error
}

func (q *question) note(text string, err error) string {
	if q.err == nil {
		q.err = err
	}
	return text
}

// columns writes columns of a table.
func (q *question) columns(table string, columns []string) []string {
	out := make([]string, len(columns))
	for i, c := range columns {
		out[i] = table + "." + q.note(emit.Identifier(c, q.dialect))
	}
	return out
}

// from writes a source with an alias.
func (q *question) from(s *model.Source, alias string) string {
	return q.note(emit.From(s, alias, q.dialect))
}

// duplicates counts the values of the columns that more than one row has. Values with a
// NULL are no keys.
func (q *question) duplicates(s *model.Source, columns []string) string {
	names := q.columns("t", columns)
	return "SELECT COUNT(*) FROM (SELECT " + names[0] + " AS k FROM " + q.from(s, "t") + " WHERE " + strings.Join(names, " IS NOT NULL AND ") +
		" IS NOT NULL GROUP BY " + strings.Join(names, ", ") + " HAVING COUNT(*) > 1) AS found"
}

// nullKeys counts the rows that have no key.
func (q *question) nullKeys(s *model.Source, columns []string) string {
	return "SELECT COUNT(*) FROM " + q.from(s, "t") + " WHERE " + strings.Join(q.columns("t", columns), " IS NULL OR ") + " IS NULL"
}

// orphans counts the rows whose key has no partner.
func (q *question) orphans(many, one *model.Source, manyColumns, oneColumns []string) string {
	left, right := q.columns("t", manyColumns), q.columns("o", oneColumns)
	var same []string
	for i := range left {
		same = append(same, right[i]+" = "+left[i])
	}
	return "SELECT COUNT(*) FROM " + q.from(many, "t") + " WHERE " + strings.Join(left, " IS NOT NULL AND ") + " IS NOT NULL AND NOT EXISTS (SELECT 1 FROM " +
		q.from(one, "o") + " WHERE " + strings.Join(same, " AND ") + ")"
}

// Verified says which joins of a model the data was found to bear out, and when.
type Verified struct {
	Model string                     `json:"model"` // the hash of the files
	At    time.Time                  `json:"at"`
	Joins map[string]map[string]bool `json:"joins"` // by source and path, such as joins[0]
}

func verifiedFile(connectionID string) string {
	return path.Join(".ktx", "semantic", connectionID+".json")
}

// maxVerifiedBytes bounds the record of checks.
const maxVerifiedBytes = 16 << 20

// Record keeps what checks found, for plans to name. Checks of the same files add to it.
func (s *Store) Record(connectionID string, v Verified) error {
	if before := s.verified(connectionID, v.Model); before != nil {
		for source, joins := range before.Joins {
			if _, again := v.Joins[source]; !again {
				v.Joins[source] = joins
			}
		}
	}
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("record checks: %w", err)
	}
	if err := s.root.MkdirAll(path.Join(".ktx", "semantic"), 0o700); err != nil {
		return fmt.Errorf("record checks: %w", err)
	}
	return rootfile.Replace(s.root, verifiedFile(connectionID), 0o600, rootfile.Bytes(text))
}

// Verified returns what checks found about the files of a snapshot, or nil. A changed
// file makes it nil.
func (s *Store) Verified(snapshot *Snapshot) *Verified {
	return s.verified(snapshot.connectionID, snapshot.Hash())
}

// verified returns what checks found about these files, or nil.
func (s *Store) verified(connectionID, hash string) *Verified {
	f, info, err := rootfile.Open(s.root, verifiedFile(connectionID))
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }()
	if info.Size() > maxVerifiedBytes {
		return nil
	}
	var v Verified
	if err := json.NewDecoder(f).Decode(&v); err != nil || v.Model != hash {
		return nil // it is damaged, or of other files
	}
	return &v
}
