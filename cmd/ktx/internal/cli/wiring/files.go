package wiring

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/ktxhq/ktx/cmd/ktx/internal/project"
	"github.com/ktxhq/ktx/dialects/duckdb"
	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/duckdbdb"
	"github.com/ktxhq/ktx/sqlguard"
)

// HasDuckDB reports whether this program has DuckDB.
const HasDuckDB = duckdbdb.Built

// NoDuckDB returns the error of a build without DuckDB.
func NoDuckDB() *execution.Error { return duckdbdb.NoEngine() }

// permitsFile returns whether rules permit a file by its path below the folder; nil without
// rules. A pattern that matches a folder matches all that it has. A denied name is denied in
// every case of its letters.
func permitsFile(rules project.Names) func(string) bool {
	if len(rules.Allow)+len(rules.Deny) == 0 {
		return nil
	}
	return func(file string) bool {
		return (len(rules.Allow) == 0 || matchesAny(rules.Allow, file)) && !matchesAny(lowered(rules.Deny), strings.ToLower(file))
	}
}

// folderFiles knows the files of a folder that rules permit. It is data, so that a connection
// that is configured again with the same stays open.
type folderFiles struct {
	root  string
	rules project.Names
}

var _ duckdb.Files = (*folderFiles)(nil)

// Tables returns the tables that a path or a pattern reads.
func (f *folderFiles) Tables(path string) []sqlguard.CatalogName {
	return duckdbdb.NewListing(f.root, permitsFile(f.rules)).Tables(path)
}

func lowered(patterns []string) []string {
	out := make([]string, len(patterns))
	for i, p := range patterns {
		out[i] = strings.ToLower(p)
	}
	return out
}

// matchesAny reports whether a pattern matches a path or a folder that it is in. A pattern
// that cannot be read, which the configuration does not have, matches.
func matchesAny(patterns []string, file string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		pattern = strings.TrimSuffix(pattern, "/")
		for at := file; at != "."; at = path.Dir(at) {
			if ok, err := doublestar.Match(pattern, at); ok || err != nil {
				return true
			}
		}
		return false
	})
}

// denyFiles adds to a policy the tables of the files that access.files does not permit. The
// engine never learns of such a file; but what was scanned of it before is still there, and
// the tools must not show that either.
func denyFiles(p *project.Project, c project.Connection, policy *sqlguard.Policy) error {
	permits := permitsFile(c.Access.Files)
	if permits == nil || c.Files == "" {
		return nil
	}
	refused, err := duckdbdb.Refused(fileOf(p, c.Files), permits)
	switch {
	case errors.Is(err, fs.ErrNotExist): // opening the connection says so
		return nil
	case err != nil:
		return fmt.Errorf("the files that access.files denies cannot be listed: %w", err)
	}
	policy.Schemas.Deny, policy.Tables.Deny = slices.Clip(policy.Schemas.Deny), slices.Clip(policy.Tables.Deny)
	for _, t := range refused {
		switch {
		case strings.ContainsAny(t.Schema+t.Name, ".*"): // no statement may name it, so no scan has read it
		case t.Name == "":
			policy.Schemas.Deny = append(policy.Schemas.Deny, t.Schema)
		default:
			policy.Tables.Deny = append(policy.Tables.Deny, t.Schema+"."+t.Name)
		}
	}
	return nil
}
