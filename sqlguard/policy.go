package sqlguard

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Limits on Policy.MaxBytes.
const (
	DefaultMaxBytes = 64 << 10
	CeilingMaxBytes = 256 << 10
)

// Policy says what a connection permits. The zero value is the strictest policy that
// can run a query. [DefaultPolicy] is the policy of a configuration file without a
// guard block.
type Policy struct {
	// MaxBytes bounds the length of a statement; 0 means DefaultMaxBytes,
	// and the ceiling is CeilingMaxBytes.
	MaxBytes int `json:"maxBytes"`
	// MaxConstant bounds the length of a value that a statement makes from
	// constants, in bytes; 0 means DefaultMaxConstant.
	MaxConstant int64 `json:"maxConstant,omitempty"`
	// AllowExplainAnalyze permits EXPLAIN ANALYZE of a statement that passes.
	AllowExplainAnalyze bool `json:"allowExplainAnalyze"`
	// AllowUnresolvedTypes permits casts to types that are not built in.
	AllowUnresolvedTypes bool `json:"allowUnresolvedTypes"`
	// Functions allows user-defined functions, and denies functions that the
	// dialect's tables or the policy allow.
	Functions Names `json:"functions"`
	// Trusted are functions that the operator vouches for, each as
	// "schema.name(type, type)". With a catalogue, they pass in whatever language they
	// are written, and whatever volatility they declare. Without one, they pass by name.
	Trusted []string `json:"trusted,omitempty"`
	// Schemas and Tables permit relations by name; Columns denies columns.
	Schemas Names        `json:"schemas"`
	Tables  Names        `json:"tables"`
	Columns []ColumnRule `json:"columns"`
	// SearchPath lists the schemas in which the session resolves unqualified
	// names, when it is pinned or known.
	SearchPath []string `json:"searchPath"`
	// Database is the connection's own database: a name that is qualified with it
	// is not an external relation. Databases are other databases that may be read,
	// spelled as the server spells them. Only dialects in which the name of a
	// relation can contain a database use it.
	Database  string   `json:"database"`
	Databases []string `json:"databases,omitempty"`
	// Reveal lists the groups of facts about the server that statements may read.
	Reveal []Group `json:"reveal,omitempty"`
}

// Names has a list of allowed names and a list of denied names. Deny overrides Allow.
// For schemas and tables an empty Allow allows all; for functions it allows none.
// "prefix*" matches every name with that prefix.
type Names struct {
	Allow []string `json:"allow"`
	Deny  []string `json:"deny"`
}

// ColumnRule denies one column, named "schema.table.column".
type ColumnRule struct {
	Match string `json:"match"`
}

// DefaultPolicy returns the policy of a configuration without a guard block:
// EXPLAIN ANALYZE of reads and casts to user types are permitted.
func DefaultPolicy() Policy {
	return Policy{AllowExplainAnalyze: true, AllowUnresolvedTypes: true}
}

// Validate returns an error that says what is wrong with p, or nil.
func (p Policy) Validate() error {
	if p.MaxBytes < 0 || p.MaxBytes > CeilingMaxBytes {
		return fmt.Errorf("guard.maxBytes: %d is not between 1 and %d", p.MaxBytes, CeilingMaxBytes)
	}
	if p.MaxConstant < 0 {
		return fmt.Errorf("guard.maxConstant: %d is negative", p.MaxConstant)
	}
	for _, list := range []struct {
		path  string
		parts int
		names []string
	}{
		{"functions.allow", 2, p.Functions.Allow},
		{"functions.deny", 2, p.Functions.Deny},
		{"access.schemas.allow", 1, p.Schemas.Allow},
		{"access.schemas.deny", 1, p.Schemas.Deny},
		{"access.tables.allow", 2, p.Tables.Allow},
		{"access.tables.deny", 2, p.Tables.Deny},
	} {
		for _, name := range list.names {
			if err := validName(name, list.parts, true); err != nil {
				return fmt.Errorf("%s: %w", list.path, err)
			}
		}
	}
	for _, trusted := range p.Trusted {
		if _, _, ok := signatureOf(trusted); !ok {
			return fmt.Errorf("functions.allow: %q is not of the form schema.name(type, type), which trust needs", trusted)
		}
	}
	if err := validGroups(p.Reveal); err != nil {
		return err
	}
	for _, rule := range p.Columns {
		if err := validName(rule.Match, 3, false); err != nil {
			return fmt.Errorf("access.columns: %w", err)
		}
	}
	return nil
}

// validName checks a dotted name of a policy. It has the given number of parts, and
// none is empty. A * is valid only as the last character, and only in names that can
// be prefixes.
func validName(name string, parts int, prefix bool) error {
	fields := strings.Split(name, ".")
	shape := strings.Join([]string{"schema", "name", "column"}[:parts], ".")
	if len(fields) != parts {
		return fmt.Errorf("%q is not of the form %s", name, shape)
	}
	for i, f := range fields {
		star := strings.IndexByte(f, '*')
		switch {
		case f == "":
			return fmt.Errorf("%q has an empty part; expected %s", name, shape)
		case star >= 0 && (!prefix || i != parts-1 || star != len(f)-1):
			return fmt.Errorf("%q: a * may stand at the end only", name)
		}
	}
	return nil
}

// couldName reports whether a rule that denies could mean schema and name. It
// matches every spelling that the server may treat as the same name.
func couldName(pattern, schema, name string) bool {
	ps, pn, dotted := strings.Cut(pattern, ".")
	if !dotted {
		return foldMatch(ps, schema)
	}
	return strings.EqualFold(ps, schema) && foldMatch(pn, name)
}

func foldMatch(pattern, name string) bool {
	if prefix, ok := strings.CutSuffix(pattern, "*"); ok {
		return len(name) >= len(prefix) && strings.EqualFold(name[:len(prefix)], prefix)
	}
	return strings.EqualFold(pattern, name)
}

// couldBegin reports whether a name that a pattern could mean may begin with a prefix.
func couldBegin(pattern, prefix string) bool {
	begin, star := strings.CutSuffix(pattern, "*")
	for begin != "" && prefix != "" {
		a, n := utf8.DecodeRuneInString(begin)
		b, m := utf8.DecodeRuneInString(prefix)
		if !strings.EqualFold(string(a), string(b)) {
			return false
		}
		begin, prefix = begin[n:], prefix[m:]
	}
	return prefix == "" || star
}

// names reports whether a rule that allows matches schema and name. It compares the
// exact spelling, or ignores the case of ASCII letters when the server folds it.
func names(pattern, schema, name string, folds bool) bool {
	if folds {
		pattern, schema, name = lowerASCII(pattern), lowerASCII(schema), lowerASCII(name)
	}
	ps, pn, dotted := strings.Cut(pattern, ".")
	if !dotted {
		return matchExact(ps, schema)
	}
	return ps == schema && matchExact(pn, name)
}

func matchExact(pattern, name string) bool {
	if prefix, ok := strings.CutSuffix(pattern, "*"); ok {
		return strings.HasPrefix(name, prefix)
	}
	return pattern == name
}

func lowerASCII(s string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}
