// Command admin measures which statements of administrators the guard refuses. It reads
// public statement sets from a folder that somebody fetched; none is in the repository:
//
//	go run ./tools/admin -data DIR              refusals with no group and with all groups
//	go run ./tools/admin -data DIR -list        the refused statements too
//
// The folder has DIR/DIALECT/SET/…, with statements in .sql files, in the string
// literals of .rb, .go, .py and .pl files, and in the keys "query" of .yml files. Of these
// it takes what begins like a read: SELECT, WITH, SHOW, VALUES, TABLE or EXPLAIN. For SQL
// Server it also opens the bodies of procedures, takes the query of INSERT … SELECT, and
// leaves out what uses the variables and temporary tables of a procedure. It leaves out
// what uses functions and tables that the set itself creates. The query of a view is taken
// as a server stores it. A set whose name begins with connect has what clients send when
// they connect. A statement counts once for a dialect, in the first set that has it.
//
// The required shares: at most 2 % of the statements of a dialect refused with all
// groups, no statement of a connect set refused with none. Counted apart, because no group
// is meant to admit them, are statements that change something, those that can show a
// password or another secret (a second table says by what), those that the dialect's grammar
// does not read, and those for versions that nobody maintains: by a name that such a version
// had, or by a file of which a later one of the same name is for all maintained versions.
package main

import (
	"cmp"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/ktxhq/ktx/dialects"
	"github.com/ktxhq/ktx/sqlguard"
)

func main() {
	data := flag.String("data", "", "the folder with the statement sets")
	list := flag.Bool("list", false, "print every refused statement")
	flag.Parse()
	var out strings.Builder
	met, err := run(*data, *list, &out)
	if _, wrong := io.WriteString(os.Stdout, out.String()); err == nil {
		err = wrong
	}
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "admin:", err)
		os.Exit(2)
	case !met:
		os.Exit(1)
	}
}

// maxShare is the share of a dialect's statements that may be refused with all groups.
const maxShare = 0.02

// figures counts the statements of one set.
type figures struct {
	statements, changes, secrets, unread, none, all int
	codes                                           map[sqlguard.Code]int // of the refusals with all groups
	shown                                           map[string]int        // of the statements that can show a secret, by what shows it
}

func newFigures() figures {
	return figures{codes: map[sqlguard.Code]int{}, shown: map[string]int{}}
}

func (f *figures) add(o figures) {
	f.statements += o.statements
	f.changes += o.changes
	f.secrets += o.secrets
	f.unread += o.unread
	f.none += o.none
	f.all += o.all
	for code, n := range o.codes {
		f.codes[code] += n
	}
	for what, n := range o.shown {
		f.shown[what] += n
	}
}

func run(data string, list bool, out *strings.Builder) (met bool, err error) {
	if data == "" {
		return false, fmt.Errorf("-data names the folder with the statement sets")
	}
	folders, err := os.ReadDir(data)
	if err != nil {
		return false, fmt.Errorf("read the statement sets: %w", err)
	}
	met = true
	out.WriteString("| dialect | set | statements | refused with none | refused with all groups | codes | changes | can show a secret | not read |\n")
	out.WriteString("|---|---|---:|---:|---:|---|---:|---:|---:|\n")
	var shown strings.Builder
	for _, folder := range folders {
		d, ok := dialects.Lookup(folder.Name())
		if !ok {
			continue
		}
		none, err := guard(d, nil)
		if err != nil {
			return false, err
		}
		all, err := guard(d, sqlguard.Groups())
		if err != nil {
			return false, err
		}
		sets, err := os.ReadDir(filepath.Join(data, folder.Name()))
		if err != nil {
			return false, fmt.Errorf("read the sets of %s: %w", folder.Name(), err)
		}
		total := newFigures()
		seen := map[string]bool{}
		for _, set := range sets {
			f := newFigures()
			statements, own, err := read(d, filepath.Join(data, folder.Name(), set.Name()), seen)
			if err != nil {
				return false, err
			}
			for _, sql := range statements {
				if names(own, sql) {
					continue
				}
				f.judge(none.CheckOnce(sql), all.CheckOnce(sql), sql, list, out)
			}
			f.row(out, folder.Name(), set.Name())
			total.add(f)
			met = met && (f.none == 0 || !strings.HasPrefix(set.Name(), "connect"))
		}
		total.row(out, folder.Name(), "all")
		met = met && float64(total.all) <= maxShare*float64(total.statements)
		for _, s := range secrets {
			if n := total.shown[s.what]; n > 0 {
				fmt.Fprintf(&shown, "| %s | %s | %d | %s |\n", folder.Name(), s.what, n, s.why)
			}
		}
	}
	out.WriteString("\n| dialect | can show a secret | statements | because |\n|---|---|---:|---|\n" + shown.String())
	return met, nil
}

func (f *figures) row(out *strings.Builder, dialect, set string) {
	codes := make([]string, 0, len(f.codes))
	for _, code := range slices.SortedFunc(maps.Keys(f.codes), func(a, b sqlguard.Code) int {
		return cmp.Or(f.codes[b]-f.codes[a], strings.Compare(string(a), string(b)))
	}) {
		codes = append(codes, fmt.Sprintf("%s %d", code, f.codes[code]))
	}
	fmt.Fprintf(out, "| %s | %s | %d | %d | %d | %s | %d | %d | %d |\n", dialect, set, f.statements, f.none, f.all, strings.Join(codes, ", "), f.changes, f.secrets, f.unread)
}

// changing are the codes of statements that do more than read.
var changing = []sqlguard.Code{
	sqlguard.CodeFunctionSideEffect, sqlguard.CodeFunctionSleep, sqlguard.CodeSelectInto, sqlguard.CodeWriteStatement,
	sqlguard.CodeWriteInCTE, sqlguard.CodeLockingClause, sqlguard.CodeDDLStatement,
}

// old is a name that PostgreSQL gave up in version 10.
var old = regexp.MustCompile(`_xlog_`)

// unnamed is a name that the program fills in.
var unnamed = regexp.MustCompile("(?i)[a-z_`\"]\\.[`\"]?1\\b|\\bfrom [`\"]1[`\"]")

// secrets are what a statement can show a secret by, as a pattern of its text, with the
// reason. A statement counts for the first of them.
var secrets = []struct {
	what, why string
	text      *regexp.Regexp
}{
	{
		"hashes of passwords", "the statement reads or makes them, as a search for weak passwords does",
		regexp.MustCompile(`(?i)\b(authentication_string|rolpassword|passwd|password_hash)\b|\b(password|pwdencrypt|pwdcompare)\s*\(`),
	},
	{
		"`pg_user_mappings.umoptions`", "user and password for a foreign server (CREATE USER MAPPING)",
		regexp.MustCompile(`(?i)\bumoptions\b`),
	},
	{
		"`pg_foreign_server.srvoptions`", "PL/Proxy keeps connection strings there, Multicorn passwords, and a wrapper without a validator takes anything",
		regexp.MustCompile(`(?i)\bsrvoptions\b`),
	},
	{
		"`pg_foreign_table.ftoptions`", "Multicorn keeps logins there, file_fdw commands (`program`), and a wrapper without a validator takes anything",
		regexp.MustCompile(`(?i)\bftoptions\b`),
	},
	{
		"`pg_subscription.subconninfo`", "a connection string; the server gives ordinary roles no right to read it",
		regexp.MustCompile(`(?i)\bsubconninfo\b`),
	},
	{
		"`pg_db_role_setting`", "settings of roles and databases, such as `app.jwt_secret`",
		regexp.MustCompile(`(?i)\bpg_db_role_setting\b`),
	},
	{
		"all settings of PostgreSQL, or those that match a pattern", "`primary_conninfo`, and settings with a dot in their name, which applications make",
		regexp.MustCompile(`(?i)\bcurrent_setting\(\s*\w+\.name\s*\)`),
	},
	{
		"all variables of MySQL", "`report_password`, and those of plugins",
		regexp.MustCompile(`(?i)^\s*show\s+((global|session)\s+)?variables\s*;?\s*$`),
	},
	{
		"`SHOW GRANTS`", "MariaDB shows the hash of the password in it",
		regexp.MustCompile(`(?i)^\s*show\s+grants\b`),
	},
	{
		"`mysql.global_priv`", "its one document has the hash of the password",
		regexp.MustCompile(`(?i)\bglobal_priv\b`),
	},
	{
		"`msdb.dbo.sysjobsteps.command`", "commands with passwords and connection strings",
		regexp.MustCompile(`(?is)\bsysjobsteps\b.*\bcommand\b|\bcommand\b.*\bsysjobsteps\b`),
	},
}

// shows returns what a refused statement can show a secret by, or "".
func shows(v sqlguard.Verdict, sql string) string {
	for _, s := range secrets {
		if !v.Allowed && v.Code != sqlguard.CodeInputTooLarge && s.text.MatchString(sql) {
			return s.what
		}
	}
	return ""
}

// signals are functions that end statements or sessions of others, or change the server.
var signals = regexp.MustCompile(`(?i)pg_(terminate|cancel)_backend|pg_reload_conf|pg_promote|pg_(create|drop)_\w*replication_slot`)

func (f *figures) judge(none, all sqlguard.Verdict, sql string, list bool, out *strings.Builder) {
	switch {
	case old.MatchString(sql), unnamed.MatchString(sql), all.Code == sqlguard.CodeParseError, all.Code == sqlguard.CodeParameterNotAllowed,
		all.Code == sqlguard.CodeClientCommand:
		f.unread++
		return
	case slices.ContainsFunc(all.Findings, func(x sqlguard.Finding) bool {
		return slices.Contains(changing, x.Code) || x.Code == sqlguard.CodeFunctionAdmin && signals.MatchString(x.Object)
	}):
		f.changes++
		return
	}
	if what := shows(all, sql); what != "" {
		f.secrets++
		f.shown[what]++
		return
	}
	f.statements++
	if !none.Allowed {
		f.none++
	}
	if !all.Allowed {
		f.all++
		f.codes[all.Code]++
		if list {
			for _, x := range all.Findings[:min(len(all.Findings), 4)] {
				fmt.Fprintf(out, "    %s: %s\n", x.Code, x.Message)
			}
			fmt.Fprintf(out, "        %.300s\n", strings.Join(strings.Fields(sql), " "))
		}
	} else if list && !none.Allowed {
		fmt.Fprintf(out, "    by %s: %s\n", none.Findings[0].Reveal, none.Findings[0].Message)
	}
}

func guard(d sqlguard.Dialect, groups []sqlguard.Group) (*sqlguard.Guard, error) {
	p := sqlguard.DefaultPolicy()
	p.Reveal = groups
	return sqlguard.New(d, p, nil)
}

// maxFile bounds the size of a file of a set.
const maxFile = 8 << 20

// ends is the end of the name of a file for a version of PostgreSQL and later ones, up to
// the version of the next such file.
var ends = regexp.MustCompile(`_(oldest|post_(\d{6}))\.sql$`)

// oldestMaintained is the oldest version of PostgreSQL that the guard knows, in this form.
const oldestMaintained = "130000"

// superseded reports whether another file of the folder is for all maintained versions.
func superseded(path string) bool {
	at := ends.FindStringSubmatchIndex(path)
	if at == nil {
		return false
	}
	version := ""
	if at[4] >= 0 {
		version = path[at[4]:at[5]]
	}
	others, _ := filepath.Glob(path[:at[0]] + "_post_*.sql")
	return slices.ContainsFunc(others, func(other string) bool {
		m := ends.FindStringSubmatch(other)
		return m != nil && m[2] > version && m[2] <= oldestMaintained
	})
}

// read returns the reads in the files of a set that were not seen before, each once, and
// the folded names of the functions and tables that its files create.
func read(d sqlguard.Dialect, root string, seen map[string]bool) (out []string, own map[string]bool, err error) {
	own = map[string]bool{}
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || superseded(path) {
			return err
		}
		if info, err := entry.Info(); err != nil || info.Size() > maxFile {
			return err
		}
		text, err := os.ReadFile(path) //nolint:gosec // the caller names the folder
		if err != nil {
			return err
		}
		for _, m := range makes.FindAllSubmatch(text, -1) {
			own[strings.ToLower(string(m[1]))] = true
		}
		for _, part := range parts(filepath.Ext(path), string(text)) {
			statements := split(d, part)
			if d, ok := d.(divider); ok {
				statements = divide(d, part)
			}
			for _, sql := range statements {
				if !seen[sql] && begins.MatchString(sql) {
					seen[sql] = true
					out = append(out, sql)
				}
			}
		}
		return nil
	})
	if err != nil {
		return nil, nil, fmt.Errorf("read %s: %w", root, err)
	}
	return out, own, nil
}

// makes is the creation of a function or a table, also inside of dynamic SQL. A name of
// fewer than six characters could be that of a column.
var makes = regexp.MustCompile(`(?i)\bcreate\s+(?:or\s+alter\s+)?(?:function|table)\s+(?:[\[\]\w]+\.){0,2}\[?(\w{6,})`)

var word = regexp.MustCompile(`\w+`)

// names reports whether a statement mentions one of the names.
func names(own map[string]bool, sql string) bool {
	for _, w := range word.FindAllString(sql, -1) {
		if own[strings.ToLower(w)] {
			return true
		}
	}
	return false
}

var (
	begins   = regexp.MustCompile(`(?is)^\(*\s*(select|with|show|values|table|explain)\s`)
	heredoc  = regexp.MustCompile(`(?s)<<[~-]?["']?SQL["']?[^\n]*\n(.*?)\n\s*SQL\b`)
	raw      = regexp.MustCompile("(?s)`([^`]*)`")
	quoted   = regexp.MustCompile(`"((?:[^"\\\n]|\\.)*)"`)
	triple   = regexp.MustCompile(`(?s)"""(.*?)"""|\'\'\'(.*?)\'\'\'`)
	shell    = regexp.MustCompile(`\\+\$`)
	inserted = regexp.MustCompile(`#\{[^}]*\}|%\{[^}]*\}|\{\w*\}|%\(\w+\)s|\$\w+|%[sdvq]`)
	client   = regexp.MustCompile(`(?m)^\s*\\.*$|\\(gset|gexec|watch).*$`)
	variable = regexp.MustCompile(`(^|[^:\w]):(['"]?)\w+(['"]?)`)
	creates  = regexp.MustCompile(`(?is)^\s*create\s.*?\bview\b.*?\bas\b`)
)

// dollar stands for an escaped $ while variables are filled in.
const dollar = "\x01"

// unescaped undoes the escapes of a literal, and removes the client's \G.
var unescaped = strings.NewReplacer(`\\G`, "", `\G`, "", `\n`, "\n", `\t`, "\t", `\"`, `"`, `\'`, "'", `\\\`+"`", "`", `\`+"`", "`", `\@`, "@", `\\`, `\`)

// divider is a dialect whose statements need no separator.
type divider interface {
	sqlguard.Dialect
	Divide(text string) []sqlguard.Span
}

var (
	batch     = regexp.MustCompile(`(?im)^\s*GO\s*(\d+)?\s*;?\s*$`)
	procedure = regexp.MustCompile(`(?is)\A.*?\b(create|alter)\s+(or\s+alter\s+)?proc(edure)?\b.*?\n\s*as\s*\n`)
	before    = regexp.MustCompile(`(?is)^\s*(begin|else|end)\b\s*;?`)
	insertion = regexp.MustCompile(`(?is)^\s*insert\b[^;]*?\b(select|with)\b`)
	local     = regexp.MustCompile(`(^|[^@\w])@\w|(^|[\s(,.\[])#{1,2}\w|\$\(`)
)

// divide returns the statements of a script for SQL Server that need nothing else of the
// script: no variable, and no temporary table.
func divide(d divider, text string) []string {
	var out []string
	for _, part := range batch.Split(text, -1) {
		if at := procedure.FindStringIndex(part); at != nil {
			part = part[at[1]:]
		}
		for _, span := range d.Divide(part) {
			sql := part[span.Start:span.End]
			for before.MatchString(sql) {
				sql = before.ReplaceAllString(sql, "")
			}
			if at := insertion.FindStringSubmatchIndex(sql); at != nil {
				sql = sql[at[2]:]
			}
			if sql = strings.TrimSpace(leading(d, sql)); !local.MatchString(sql) {
				out = append(out, sql)
			}
		}
	}
	return out
}

// queries returns the block texts of the keys "query" of a YAML file.
func queries(text string) []string {
	var out []string
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		key := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(lines[i]), "- "))
		rest, ok := strings.CutPrefix(key, "query:")
		if rest = strings.TrimSpace(rest); !ok || !strings.HasPrefix(rest, "|") && !strings.HasPrefix(rest, ">") {
			continue
		}
		indent := len(lines[i]) - len(strings.TrimLeft(lines[i], " -"))
		var block []string
		for i+1 < len(lines) && (strings.TrimSpace(lines[i+1]) == "" || len(lines[i+1])-len(strings.TrimLeft(lines[i+1], " ")) > indent) {
			i++
			block = append(block, lines[i])
		}
		out = append(out, strings.Join(block, "\n"))
	}
	return out
}

// parts returns the texts of a file that may hold SQL.
func parts(extension, text string) []string {
	var found []string
	switch extension {
	case ".sql":
		text = client.ReplaceAllString(text, "")
		return []string{variable.ReplaceAllString(text, "${1}1")}
	case ".yml", ".yaml":
		return queries(text)
	case ".rb":
		for _, m := range heredoc.FindAllStringSubmatch(text, -1) {
			found = append(found, m[1])
		}
		for _, m := range quoted.FindAllStringSubmatch(text, -1) {
			found = append(found, m[1])
		}
	case ".py", ".pl":
		for _, m := range triple.FindAllStringSubmatch(text, -1) {
			found = append(found, m[1]+m[2])
		}
		for _, m := range quoted.FindAllStringSubmatch(triple.ReplaceAllString(text, ""), -1) {
			found = append(found, m[1])
		}
	case ".go":
		for _, m := range raw.FindAllStringSubmatch(text, -1) {
			found = append(found, m[1])
		}
		for _, m := range quoted.FindAllStringSubmatch(text, -1) {
			found = append(found, m[1])
		}
	}
	for i := range found {
		text := found[i]
		if extension == ".py" || extension == ".pl" {
			text = unescaped.Replace(shell.ReplaceAllString(text, dollar))
		}
		found[i] = strings.ReplaceAll(inserted.ReplaceAllString(text, "1"), dollar, "$")
	}
	return found
}

// stored returns the query of a view as MySQL stores it: comments for servers of some
// version are read, and functions of the schema sys have it before their name. The views
// that call them are those of that schema.
func stored(query string) string {
	return bare.ReplaceAllString(conditional.ReplaceAllString(query, "$1"), "${1}sys.$2(")
}

var (
	conditional = regexp.MustCompile(`(?s)/\*!5\d{4}(.*?)\*/`)
	bare        = regexp.MustCompile(`(^|[^.\w])(extract_(?:schema|table)_from_file_name)\(`)
)

// split returns the statements of a text, with the query of CREATE VIEW instead of it.
func split(d sqlguard.Dialect, text string) []string {
	var out []string
	start := 0
	add := func(end int) {
		sql := strings.TrimSpace(text[start:end])
		sql = strings.TrimSpace(leading(d, sql))
		if at := creates.FindStringIndex(sql); at != nil {
			sql = stored(strings.TrimSpace(sql[at[1]:]))
		}
		if sql != "" {
			out = append(out, sql)
		}
	}
	for _, t := range d.Lex(text).List {
		if t.Kind == sqlguard.TokenTerminator {
			add(t.Start)
			start = t.End
		}
	}
	add(len(text))
	return out
}

// leading removes the comments before a statement.
func leading(d sqlguard.Dialect, sql string) string {
	for _, t := range d.Lex(sql).List {
		if t.Kind != sqlguard.TokenComment {
			return sql[t.Start:]
		}
	}
	return ""
}
