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
	"sync"
	"unicode/utf8"

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
	case c == possible && len(t.Holes) == 0 && (oneWord().MatchString(text) || cssSelector().MatchString(text) || prose(text)):
		return false // the name of an event or a step, such as emit("commit"), elements of a page, or a sentence
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
		_, _ = fmt.Fprintf(h, "%v %d %q %q %t %t %t %t %v %q %v\n", t.Span, t.Call, t.Sink, t.Receiver, t.Certain, t.Configured, t.Tagged, t.Emptied, t.Holes, t.sql, t.pieces)
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

// oneWord is a text that is one word and no more, such as commit, Commit or
// set-cookie. A word of capital letters may be a statement.
var oneWord = lazily(`^\s*[A-Za-z]?[a-z]+(?:-[a-z]+)*\s*$`)

// outsideDatabases are names of what sends requests, or shows a page. Their methods
// have names of methods that take SQL.
var outsideDatabases = map[string]bool{
	"api": true, "axios": true, "fetch": true, "request": true, "requests": true, "req": true, "http": true, "https": true, "response": true, "res": true, "router": true, "page": true, "cy": true, "ui": true,
	"screen": true, "window": true, "document": true, "element": true, "wrapper": true, "searchparams": true, "params": true,
	"queryclient": true, "permissions": true, "st": true, "ax": true, "draw": true,
}

// of returns what the name of a method says when it is called on something with a
// name.
func (c certainty) of(receiver string) certainty {
	if c == likely && outsideDatabases[strings.ToLower(receiver)] {
		return possible
	}
	return c
}

// prose reports whether a text that begins like a statement is a sentence of a
// natural language: three words follow each other that no statement has so, and
// nothing else in it is of SQL. Or most of it is in another script.
func prose(text string) bool {
	if mentionsSQL(text) {
		return false
	}
	ascii, all := 0, 0
	for _, r := range text {
		if all++; r < utf8.RuneSelf {
			ascii++
		}
	}
	return 4*ascii < 3*all || slices.ContainsFunc(wordRun().FindAllString(text, -1), func(run string) bool {
		words := 0
		for word := range strings.FieldsSeq(strings.ToLower(run)) {
			if words++; statementWords[word] {
				words = 0
			}
			if words == 3 {
				return true
			}
		}
		return false
	})
}

// wordRun is words with only spaces between them.
var wordRun = lazily(`[A-Za-z]+(?: +[A-Za-z]+)+`)

// statementWords are words that statements have beside names. Others follow each
// other at most as a name and its alias.
var statementWords = func() map[string]bool {
	words := map[string]bool{}
	for word := range strings.FieldsSeq(`select with insert update delete merge replace create alter drop truncate grant revoke call exec execute explain show values set
		begin commit rollback lock copy vacuum analyze pragma attach do declare load use table describe desc rename refresh comment prepare listen notify kill
		deallocate dbcc reindex unlisten from where and or not null is as on in by order group having limit offset join left right inner outer cross full union
		all distinct into default primary key unique index view function procedure trigger sequence schema database role user type extension policy row rows
		level security enable disable column constraint foreign references check cascade restrict only if exists temporary temp unlogged materialized concurrently
		transaction work isolation read write committed uncommitted repeatable serializable snapshot deferrable initially deferred immediate exclusive share mode
		access session local global time zone to for of using returning case when then else end cast between like ilike escape collate asc nulls first last next
		integer int bigint smallint text varchar char character varying boolean bool date timestamp timestamptz numeric decimal real double precision float json
		jsonb uuid serial bigserial blob bytea varbinary binary array interval generated always identity auto_increment autoincrement stored virtual owner
		publication subscription server wrapper foreign data language returns return volatile stable immutable strict security definer invoker parallel safe
		privileges usage option public tables schemas functions sequences routine routines status variables processlist columns indexes engine engines charset
		full verbose format buffers costs format off on true false over partition window recursive lateral no action add modify change rename validate valid
		attach detach inherit tablespace storage compression statistics logged cluster without oids search_path names password login superuser createdb nologin
		escape delimiter csv header program stdin stdout freeze savepoint release start stop master slave replica reset discard plans sequences checkpoint`) {
		words[word] = true
	}
	return words
}()

// cssSelector is a selector of HTML elements that begins like a statement, such
// as select[name=type] or table tbody tr. No statement can begin so.
var cssSelector = lazily(`^\s*(?:select\[[\w-]+[~|^$*]?=|table(?:\s+(?:tbody|thead|tfoot|tr|td|th)\b|\s*>|\[|\.[a-z]))`)

const sqlSpace = `(?is)^(?:[\s;(]|--[^\n]*(?:\n|$)|#[^\n]*\n|/\*.*?\*/)*`

var sqlStart = lazily(sqlSpace + `(?:\{\s*(?:\?\s*=\s*)?call\b|(?:select|with|insert|update|delete|merge|replace|create|alter|drop|truncate|grant|revoke|call|exec|execute|explain|show|values|set|begin|commit|rollback|lock|copy|vacuum|analyze|pragma|attach|do|declare|load|use|table|describe|desc|rename|refresh|comment|prepare|listen|notify|kill|deallocate|dbcc|reindex|unlisten)\b|/\*!)`)

// sqlCommand is how statements begin whose first word is one that other texts
// begin with too.
var sqlCommand = lazily(sqlSpace + `(?:` + strings.Join([]string{
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

var sqlWords = lazily(`\b(?:SELECT|FROM|WHERE|JOIN|UNION|VALUES|INSERT INTO|DELETE FROM|ORDER BY|GROUP BY)\b|(?is:\bselect\b.*\bfrom\b|\binsert\s+into\b|\bdelete\s+from\b|\bupdate\b.*\bset\b|\b(?:drop|alter|create|truncate)\s+table\b)`)

// mentionsSQL reports whether a text that is partly unknown has words of a SQL
// statement in it.
func mentionsSQL(text string) bool { return sqlWords().MatchString(text) }

// LooksLikeSQL reports whether a text begins as a statement does.
func LooksLikeSQL(text string) bool {
	return sqlStart().MatchString(text) || sqlCommand().MatchString(text)
}

// lazily returns a pattern that is compiled when it is first used: most commands use
// none of them.
func lazily(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}
