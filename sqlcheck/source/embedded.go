package source

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/ktxhq/ktx/sqlguard"
)

// Options are what a project says about its sources.
type Options struct {
	// Sinks are the last names of functions and methods that take SQL, in
	// addition to the known ones.
	Sinks []string
	// Path is that of the file, with slashes, as Library knows it.
	Path string
	// Library knows the other files of the project. It may be nil.
	Library *Library

	name string // of the file that is read
}

func (o *Options) sink(name string) bool { return slices.Contains(o.Sinks, name) }

// certainty is how much the name of a function says about whether its argument
// is SQL.
type certainty uint8

const (
	// possible: a common word. An argument counts if it looks like SQL.
	possible certainty = iota
	// likely: usually SQL. An argument that is not a constant may be SQL.
	likely
	// certain: always SQL.
	certain
)

// judges reports whether a text that is partly known is judged where it is
// passed to such a function.
func (c certainty) judges(t *Text) bool {
	switch text := t.SQL(); {
	case c == possible && len(t.Holes) == 0 && (oneWord.MatchString(text) || cssSelector.MatchString(text)):
		return false // the name of an event or a step, such as emit("commit"), or elements of a page
	case LooksLikeSQL(text), c == certain && strings.TrimSpace(text) != "":
		return true
	case len(t.Holes) == 0:
		return false
	default:
		return c >= likely || mentionsSQL(text)
	}
}

// SyntaxError says where and why a file cannot be parsed.
type SyntaxError struct {
	Offset  int
	Message string
}

// Error returns the message.
func (e *SyntaxError) Error() string { return e.Message }

// Source is what was found in a file.
type Source struct {
	Texts []*Text
	// Comments are those of the file's own language.
	Comments []sqlguard.Span

	comments []string // their texts, if the file does not have them in one piece
}

// Comment returns the text of a comment, by its number.
func (s *Source) Comment(i int, source string) string {
	if s.comments != nil {
		return s.comments[i]
	}
	return source[s.Comments[i].Start:s.Comments[i].End]
}

// Sum is the same for sources in which the same was found, also if it depends
// on other files.
func (s *Source) Sum() string {
	h := sha256.New()
	for _, t := range s.Texts {
		_, _ = fmt.Fprintf(h, "%v %d %q %t %t %t %v %q %v\n", t.Span, t.Call, t.Sink, t.Certain, t.Configured, t.Emptied, t.Holes, t.sql, t.pieces)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// languages are the parsers, by the extension of a file.
var languages = map[string]func(source string, o *Options) (*Source, error){
	".go": findGo, ".py": findPython,
	".js": findJavaScript, ".mjs": findJavaScript, ".cjs": findJavaScript, ".jsx": findJavaScript,
	".ts": findJavaScript, ".mts": findJavaScript, ".cts": findJavaScript, ".tsx": findJavaScript,
	".ipynb": findNotebook,
}

// Reads reports whether the package can read files of that name.
func Reads(name string) bool {
	return languages[strings.ToLower(filepath.Ext(name))] != nil
}

// Find parses a file and returns the SQL in it. The error is a *SyntaxError.
func Find(name, source string, o Options) (*Source, error) {
	o.name = name
	found, err := languages[strings.ToLower(filepath.Ext(name))](source, &o)
	if err != nil {
		return found, err
	}
	var texts []*Text
	slices.SortStableFunc(found.Texts, func(a, b *Text) int {
		return cmp.Or(a.Span.Start-b.Span.Start, b.Span.End-a.Span.End)
	})
	for _, t := range found.Texts {
		t.Configured = o.sink(t.Sink)
		if slices.ContainsFunc(texts[max(0, len(texts)-2*maxAlternatives):], func(other *Text) bool { return other != t && other.holds(t) }) {
			continue // execute(text("…")): both take it
		}
		texts = append(texts, t)
	}
	found.Texts = texts
	return found, nil
}

// holds reports whether other is the same text, passed on in an argument.
func (t *Text) holds(other *Text) bool {
	return t.Span.Start <= other.Span.Start && other.Span.End <= t.Span.End && len(t.sql) > 0 && t.key() == other.key() && t.Certain == other.Certain
}

// oneWord is a text that is one word without a capital letter, such as commit
// or set-cookie, and no more.
var oneWord = regexp.MustCompile(`^\s*[a-z]+(?:-[a-z]+)*\s*$`)

// cssSelector is a selector of HTML elements that begins like a statement, such
// as select[name=type] or table tbody tr. No statement can begin so.
var cssSelector = regexp.MustCompile(`^\s*(?:select\[[\w-]+[~|^$*]?=|table(?:\s+(?:tbody|thead|tfoot|tr|td|th)\b|\s*>|\[|\.[a-z]))`)

const sqlSpace = `(?is)^(?:[\s;(]|--[^\n]*(?:\n|$)|#[^\n]*\n|/\*.*?\*/)*`

var sqlStart = regexp.MustCompile(sqlSpace + `(?:(?:select|with|insert|update|delete|merge|replace|create|alter|drop|truncate|grant|revoke|call|exec|execute|explain|show|values|set|begin|commit|rollback|lock|copy|vacuum|analyze|pragma|attach|do|declare|load|use|table|describe|desc|rename|refresh|comment|prepare|listen|notify|kill|deallocate|dbcc|reindex|unlisten)\b|/\*!)`)

// sqlCommand is how statements begin whose first word is one that other texts
// begin with too.
var sqlCommand = regexp.MustCompile(sqlSpace + `(?:` + strings.Join([]string{
	`close\s+(?:all|"?\w+"?)\s*;?\s*$`,
	`(?:fetch|move)\s+(?:next|prior|first|last|absolute|relative|forward|backward|all|from|in|-?\d+)\b`,
	`savepoint\s+"?\w+"?\s*;?\s*$`, `release\s+(?:savepoint\s+)?"?\w+"?\s*;?\s*$`,
	`start\s+(?:transaction|slave|replica|group_replication)\b`, `stop\s+(?:slave|replica|group_replication)\b`,
	`(?:abort|end)(?:\s+(?:work|transaction))?\s*;?\s*$`, `save\s+tran`,
	`reset\s+(?:all|role|session|master|slave|replica|persist|query|binary|[a-z_.]+\s*;?\s*$)`, `discard\s+(?:all|plans|sequences|temp)`,
	`checkpoint\s*;?\s*$`, `cluster\s+(?:verbose|"?\w+"?)\b`, `detach\s+(?:database\s+)?["'\w]+\s*;?\s*$`,
	`reassign\s+owned`, `import\s+foreign`, `security\s+label`,
	`flush\s+(?:no_write|local|binary|engine|error|general|hosts|logs|privileges|optimizer|relay|slow|status|table|user)`,
	`(?:optimize|repair|check|checksum|backup|restore)\s+(?:table|local|no_write|database|log|verifyonly|headeronly|filelistonly)`,
	`handler\s+\S+\s+(?:open|read|close)`, `xa\s+(?:start|begin|end|prepare|commit|rollback|recover)`,
	`purge\s+(?:binary|master)`, `shutdown\s*;?\s*$`, `shutdown\s+with`, `(?:un)?install\s+(?:plugin|component|soname)`,
	`(?:binlog|signal|resignal)\s+['"s]`, `cache\s+index`, `change\s+(?:master|replication)`, `(?:lock|unlock)\s+(?:tables?|instance)`,
	`waitfor\s+(?:delay|time)`, `raiserror\s*\(`, `throw\s+\d`, `print\s+[@n']`, `deny\s+\w+`, `reconfigure\b`, `bulk\s+insert`,
	`if\s+(?:not\s+)?(?:exists|object_id|@|\()`, `while\s+(?:\d|@|\()`, `(?:write|update)text\s`, `disable\s+trigger`, `enable\s+trigger`,
	`from\s+\S+\s+(?:select|insert)\b`, `system\s+(?:reload|drop|flush|stop|start|sync|shutdown|kill)`,
}, "|") + `)`)

var sqlWords = regexp.MustCompile(`\b(?:SELECT|FROM|WHERE|JOIN|UNION|VALUES|INSERT INTO|DELETE FROM|ORDER BY|GROUP BY)\b|(?is:\bselect\b.*\bfrom\b|\binsert\s+into\b|\bdelete\s+from\b|\bupdate\b.*\bset\b|\b(?:drop|alter|create|truncate)\s+table\b)`)

// mentionsSQL reports whether a text that is partly unknown has words of a SQL
// statement in it.
func mentionsSQL(text string) bool { return sqlWords.MatchString(text) }

// LooksLikeSQL reports whether a text begins as a statement does.
func LooksLikeSQL(text string) bool {
	return sqlStart.MatchString(text) || sqlCommand.MatchString(text)
}
