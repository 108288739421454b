package embedded

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/ktxhq/ktx/sqlguard"
)

// Options are what a project says of its sources.
type Options struct {
	// Sinks are functions and methods that take SQL beside the known ones, by
	// their last name.
	Sinks []string
}

func (o *Options) sink(name string) (goSink, bool) {
	return goSink{0, true}, slices.Contains(o.Sinks, name)
}

// SyntaxError says where and why a file cannot be read.
type SyntaxError struct {
	Offset  int
	Message string
}

// Error returns the message.
func (e *SyntaxError) Error() string { return e.Message }

// Source is what a file holds.
type Source struct {
	Texts []*Text
	// Comments are those of the file's own language.
	Comments []sqlguard.Span

	comments []string // their texts, where they do not stand in the file as they are
}

// Comment returns the text of a comment, by its number.
func (s *Source) Comment(i int, source string) string {
	if s.comments != nil {
		return s.comments[i]
	}
	return source[s.Comments[i].Start:s.Comments[i].End]
}

// languages are the readers, by the extension of a file.
var languages = map[string]func(source string, o *Options) (*Source, error){
	".go": findGo, ".py": findPython,
	".js": findJavaScript, ".mjs": findJavaScript, ".cjs": findJavaScript, ".jsx": findJavaScript,
	".ts": findJavaScript, ".mts": findJavaScript, ".cts": findJavaScript, ".tsx": findJavaScript,
	".ipynb": findNotebook,
}

// Reads reports whether files of that name may hold SQL that is found.
func Reads(name string) bool {
	return languages[strings.ToLower(filepath.Ext(name))] != nil
}

// Find reads a file. The error is a *SyntaxError.
func Find(name, source string, o Options) (*Source, error) {
	return languages[strings.ToLower(filepath.Ext(name))](source, &o)
}

var sqlStart = regexp.MustCompile(`(?is)^(?:\s|--[^\n]*\n|/\*.*?\*/|\()*(?:select|with|insert|update|delete|merge|replace|create|alter|drop|truncate|grant|revoke|call|exec|execute|explain|show|values|set|begin|commit|rollback|lock|copy|vacuum|analyze|pragma|attach|do|declare|load|use|table|describe|desc|rename|refresh|comment|call|prepare|listen|notify|kill)\b`)

// looksLikeSQL reports whether a text begins as a statement does.
func looksLikeSQL(text string) bool { return sqlStart.MatchString(text) }
