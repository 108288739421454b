package wiring

import (
	"path/filepath"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/ktxhq/ktx/cmd/ktx/internal/project"
	"github.com/ktxhq/ktx/sqlcheck/migration"
)

// The profiles of a check.
const (
	ProfileAuto      = "auto" // migration for the files that check.migrations names
	ProfileReadOnly  = "read-only"
	ProfileMigration = "migration"
)

// Profiles returns the values of --profile.
func Profiles() []string { return []string{ProfileAuto, ProfileReadOnly, ProfileMigration} }

// Migrations returns what says whether a file is a migration, for a profile.
func (g *FileGuards) Migrations(profile string, reads func(name string) []string) func(path string) (migration.Options, bool) {
	if profile == ProfileReadOnly {
		return nil
	}
	return func(path string) (migration.Options, bool) {
		o := migration.Options{Reads: reads}
		p := g.projects[filepath.Dir(path)]
		if p != nil {
			o.Transaction = p.Config.Check.Migrations.Transaction
		}
		return o, profile == ProfileMigration || p != nil && isMigration(p, path)
	}
}

// isMigration reports whether check.migrations names a path.
func isMigration(p *project.Project, path string) bool {
	rel := filepath.ToSlash(inProject(p, path))
	for _, pattern := range p.Config.Check.Migrations.Paths {
		if ok, err := doublestar.Match(pattern, rel); ok && err == nil {
			return true
		}
	}
	return false
}
