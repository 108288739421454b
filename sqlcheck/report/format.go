package report

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/ktxhq/ktx/sqlcheck/migration"
	"github.com/ktxhq/ktx/sqlguard"
)

// Check is a whole check, as a report shows it.
type Check struct {
	Files   []File
	Summary Summary
	Version string // of ktx
	// All also shows the findings that do not count, in formats that cannot
	// mark them.
	All   bool
	Color bool
	// Max, if above 0, is the most findings that the formats for people show:
	// human, in which equal findings count once, compact, github and markdown.
	Max int
	// Spool, if set, has the statements of the files.
	Spool *Spool
}

// The formats of a report.
const (
	FormatHuman      = "human"
	FormatCompact    = "compact"
	FormatJSON       = "json"
	FormatJSONL      = "jsonl"
	FormatSARIF      = "sarif"
	FormatGitHub     = "github"
	FormatGitLab     = "gitlab"
	FormatJUnit      = "junit"
	FormatCheckstyle = "checkstyle"
	FormatMarkdown   = "markdown"
)

// formats are the writers, in the order of the documentation.
var formats = []struct {
	name  string
	write func(io.Writer, *Check) error
}{
	{FormatHuman, writeHuman},
	{FormatCompact, writeCompact},
	{FormatJSON, writeJSON},
	{FormatJSONL, writeJSONL},
	{FormatSARIF, writeSARIF},
	{FormatGitHub, writeGitHub},
	{FormatGitLab, writeGitLab},
	{FormatJUnit, writeJUnit},
	{FormatCheckstyle, writeCheckstyle},
	{FormatMarkdown, writeMarkdown},
}

// Formats returns the names of the formats.
func Formats() []string {
	var names []string
	for _, f := range formats {
		names = append(names, f.name)
	}
	return names
}

// Write writes a check in a format.
func Write(w io.Writer, format string, c *Check) error {
	for _, f := range formats {
		if f.name == format {
			if err := f.write(w, c); err != nil {
				return fmt.Errorf("write the report as %s: %w", format, err)
			}
			return nil
		}
	}
	return fmt.Errorf("write the report: no format %q", format)
}

// DefaultSeverity returns the severity of a code's findings unless the
// configuration sets another one.
func DefaultSeverity(code sqlguard.Code) Severity {
	if level, ok := migration.LevelOf(code); ok {
		return Severity(level)
	}
	switch code { //nolint:exhaustive // all others are errors
	case sqlguard.CodeSuppressionUnused:
		return SeverityWarning
	case sqlguard.CodeDynamicSQLUnprovable:
		return SeverityNote
	default:
		return SeverityError
	}
}

// LookupCode returns the description of a code of the guard or of the profile for
// migrations.
func LookupCode(code sqlguard.Code) (sqlguard.CodeInfo, bool) {
	if info, ok := sqlguard.LookupCode(code); ok {
		return info, true
	}
	return migration.LookupCode(code)
}

// Rules returns the codes that a check can find.
func Rules() []sqlguard.CodeInfo {
	return append(slices.DeleteFunc(sqlguard.Codes(), func(c sqlguard.CodeInfo) bool { return c.Family == sqlguard.FamilyExecution }), migration.Codes()...)
}

// shown calls f with each finding that a format without marks shows, up to Max,
// and returns how many there are.
func (c *Check) shown(f func(*File, *Finding)) (all int) {
	c.each(func(file *File, found *Finding) {
		if all++; c.Max <= 0 || all <= c.Max {
			f(file, found)
		}
	})
	return all
}

// each calls f with each finding that a format without marks shows.
func (c *Check) each(f func(*File, *Finding)) {
	for i := range c.Files {
		file := &c.Files[i]
		for j := range file.Findings {
			if found := &file.Findings[j]; c.All || found.Counts() {
				f(file, found)
			}
		}
	}
}

// advice returns the message of a finding with its hint and its mark.
func (f *Finding) advice() string {
	text := f.Message
	if f.Hint != "" {
		text += ". Hint: " + f.Hint
	}
	return text + f.mark()
}

// mark says why a finding does not count.
func (f *Finding) mark() string {
	switch f.State {
	case StateSuppressed:
		return fmt.Sprintf(" [permitted until %s: %s]", f.Suppression.Until, f.Suppression.Reason)
	case StateBaseline:
		return " [in the baseline]"
	default:
		return ""
	}
}

// identities returns a name for each finding of a file. The name stays the same
// when the file is reformatted or the statement moves within it.
func identities(file *File) []string {
	names := make([]string, len(file.Findings))
	seen := map[string]int{}
	for i := range file.Findings {
		f := &file.Findings[i]
		key := string(f.Code) + "\x00" + f.Fingerprint
		if f.Fingerprint == "" {
			key += f.Message
		}
		seen[key]++
		sum := sha256.Sum256([]byte(key + "\x00" + file.Path + "\x00" + strconv.Itoa(seen[key])))
		names[i] = hex.EncodeToString(sum[:])
	}
	return names
}
