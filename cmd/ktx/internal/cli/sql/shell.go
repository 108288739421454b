package sql

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/peterh/liner"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/wiring"
	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/research/catalog"
	"github.com/ktxhq/ktx/sqlguard"
)

// shell is one run of ktx sql -i. Its statements take the way of those of ktx sql.
type shell struct {
	app        *console.App
	open       *wiring.OpenProject
	options    runOptions
	format     string
	connection execution.ConnectionInfo
	dialect    sqlguard.Dialect // of the connection; nil if no statement runs on it
	interrupts <-chan os.Signal
	timing     bool

	line          *liner.State
	edits, normal liner.ModeApplier // the modes of the terminal: for lines, and for everything else
	tables        []*catalog.Table  // of the connection's latest scan
	before        string            // the lines of the statement that is not complete
}

// maxHistory bounds what is read of the history, in bytes.
const maxHistory = 1 << 20

// runShell reads and runs statements until the user leaves.
func runShell(ctx context.Context, a *console.App, open *wiring.OpenProject, o runOptions, format string) error {
	s := &shell{app: a, open: open, options: o, format: format}
	if o.connection != "" || len(open.Gateway.Connections(ctx)) == 1 {
		info, err := wiring.OneConnection(ctx, open, o.connection)
		if err != nil {
			return err
		}
		if err := s.connect(ctx, info); err != nil {
			return err
		}
	} else if len(open.Gateway.Connections(ctx)) == 0 {
		return console.Usage("no connection is configured in %s", open.Project.File)
	}
	s.interrupts = a.OwnInterrupts()
	mode, err := liner.TerminalMode()
	if err != nil {
		return console.Failed("read the mode of the terminal: %w", err)
	}
	s.normal = mode
	s.line = liner.NewLiner()
	defer func() { _ = s.line.Close() }()
	if s.edits, err = liner.TerminalMode(); err != nil {
		return console.Failed("read the mode of the terminal: %w", err)
	}
	s.line.SetCtrlCAborts(true)
	s.line.SetTabCompletionStyle(liner.TabPrints)
	s.line.SetWordCompleter(s.complete)
	history, err := openHistory(open.Project.Dir)
	if err != nil {
		a.Errorf("note: the history is not kept: %s\n", console.EscapeControls(err.Error()))
	} else {
		defer func() { _ = history.Close() }()
		if _, err := s.line.ReadHistory(io.LimitReader(history, maxHistory)); err != nil {
			a.Errorf("note: the history cannot be read: %s\n", console.EscapeControls(err.Error()))
		}
	}
	a.Errorf("ktx %s. A statement ends with a semicolon. \\? shows the commands, \\q leaves.\n", a.Version)
	if s.connection.ID == "" {
		s.listConnections(ctx)
	}
	for {
		line, err := s.read(ctx)
		switch {
		case errors.Is(err, liner.ErrPromptAborted):
			s.before = ""
			continue
		case errors.Is(err, io.EOF):
			a.Errorf("\n")
			return nil
		case err != nil:
			return err
		}
		if strings.TrimSpace(line) != "" {
			s.line.AppendHistory(line)
			if history != nil {
				_, _ = history.WriteString(line + "\n") // a statement counts more than its history
			}
		}
		if s.take(ctx, line) {
			return nil
		}
		if a.Out.Failure() != nil {
			return ctx.Err()
		}
	}
}

// openHistory opens the file of the lines that were typed in a project. Nobody else may
// read it. A link that leads out of the project is refused.
func openHistory(project string) (*os.File, error) {
	root, err := os.OpenRoot(project)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	name := filepath.Join(".ktx", "sql_history")
	if err := trimHistory(root, name); err != nil {
		return nil, err
	}
	f, err := root.OpenFile(name, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	return f, f.Chmod(0o600)
}

// trimHistory cuts a history that is too long to half of what is read.
func trimHistory(root *os.Root, name string) error {
	info, err := root.Stat(name)
	if err != nil || info.Size() <= maxHistory {
		return nil //nolint:nilerr // there is none yet
	}
	text, err := root.ReadFile(name)
	if err != nil {
		return err
	}
	text = text[len(text)-maxHistory/2:]
	return root.WriteFile(name, text[bytes.IndexByte(text, '\n')+1:], 0o600)
}

// read reads a line. It returns early when ctx ends.
func (s *shell) read(ctx context.Context) (string, error) {
	prompt := s.connection.ID + "=> "
	if s.before != "" {
		prompt = s.connection.ID + "-> "
	}
	type answer struct {
		line string
		err  error
	}
	_ = s.edits.ApplyMode()
	defer func() { _ = s.normal.ApplyMode() }()
	done := make(chan answer, 1)
	go func() {
		line, err := s.line.Prompt(prompt)
		done <- answer{line, err}
	}()
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case got := <-done:
		return got.line, got.err
	}
}

// take runs a line: a command, or a part of a statement. It reports whether the user
// leaves.
func (s *shell) take(ctx context.Context, line string) (leave bool) {
	if s.before == "" {
		word := strings.TrimSpace(line)
		switch strings.ToLower(strings.TrimRight(word, "; ")) {
		case "":
			return false
		case "exit", "quit":
			return true
		case "help":
			word = `\?`
		}
		if strings.HasPrefix(word, `\`) {
			return s.command(ctx, word)
		}
	}
	s.before += line + "\n"
	if s.dialect == nil {
		s.before = ""
		s.complain(console.Usage(`no connection is chosen: \c lists them, \c ID takes one`))
		return false
	}
	tokens := s.dialect.Lex(s.before)
	last := slices.IndexFunc(reversed(tokens.List), func(t sqlguard.Token) bool { return t.Kind != sqlguard.TokenComment })
	if last < 0 || reversed(tokens.List)[last].Kind != sqlguard.TokenTerminator {
		return false
	}
	text := s.before
	s.before = ""
	for _, span := range tokens.Statements() {
		if !s.run(ctx, text[span.Start:span.End]) {
			return false
		}
	}
	return false
}

func reversed(list []sqlguard.Token) []sqlguard.Token {
	list = slices.Clone(list)
	slices.Reverse(list)
	return list
}

// run runs one statement. An interrupt ends it at the server. It reports whether the
// statement succeeded.
func (s *shell) run(ctx context.Context, text string) bool {
	select {
	case <-s.interrupts: // it came while nothing ran
	default:
	}
	running, cancel := context.WithCancel(ctx)
	defer cancel()
	ended, watched := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(watched)
		select {
		case <-s.interrupts:
			cancel()
		case <-ended:
		}
	}()
	start := time.Now()
	o := s.options
	o.connection = s.connection.ID
	err := runStatement(running, s.app, s.open, o, text, s.format)
	took := time.Since(start)
	close(ended)
	<-watched
	if err != nil {
		s.complain(&console.StatementError{Err: err, Name: "statement", Text: text})
	}
	if s.timing {
		s.app.Printf("Time: %.3f ms\n", float64(took.Microseconds())/1000)
	}
	return err == nil
}

// complain prints an error. The shell goes on.
func (s *shell) complain(err error) { _ = s.app.Report(err) }

// commands is what \? prints.
const commands = `\d            the tables of the latest scan      \timing   show the time of statements, or not
\d TABLE      the columns of a table             \x        one line for each value: on, off, auto
\c            the connections                    \?        this list
\c ID         use another connection             \q        leave, as Ctrl-D does

A statement ends with a semicolon and may take several lines. Ctrl-C ends a statement
that runs, or drops the lines that are typed. Tab completes names of tables and columns.
`

// command runs a command of the shell. It reports whether the user leaves.
func (s *shell) command(ctx context.Context, text string) (leave bool) {
	name, argument, _ := strings.Cut(text, " ")
	argument = strings.TrimSpace(strings.TrimRight(argument, "; "))
	switch strings.TrimRight(name, ";") {
	case `\q`:
		return true
	case `\?`, `\h`:
		s.app.Printf("%s", commands)
	case `\timing`:
		s.timing = argument == "on" || argument != "off" && !s.timing
		s.app.Errorf("timing is %s\n", map[bool]string{true: "on", false: "off"}[s.timing])
	case `\x`:
		s.expand(argument)
	case `\c`:
		s.choose(ctx, argument)
	case `\d`:
		s.describe(ctx, argument)
	default:
		s.complain(console.Usage(`unknown command %s; \? lists them`, name))
	}
	return false
}

// expand sets when a table has one line for each value. Without an argument it changes
// between on and auto.
func (s *shell) expand(argument string) {
	if argument == "" {
		argument = string(expandOn)
		if s.options.expanded == expandOn {
			argument = string(expandWide)
		}
	}
	if err := console.OneOf(`\x`, argument, expansions); err != nil {
		s.complain(err)
		return
	}
	s.options.expanded = expansion(argument)
	s.app.Errorf("expanded is %s\n", argument)
}

// choose uses another connection, or lists all.
func (s *shell) choose(ctx context.Context, id string) {
	if id == "" {
		s.listConnections(ctx)
		return
	}
	info, err := s.open.Gateway.Connection(ctx, id)
	if err == nil {
		err = s.connect(ctx, info)
	}
	if err != nil {
		s.complain(err)
	}
}

// connect makes a connection the one that statements run on.
func (s *shell) connect(ctx context.Context, info execution.ConnectionInfo) error {
	dialect, err := wiring.LookupDialect(info.Dialect)
	if err != nil {
		return console.Usage("connection %s runs no statements", info.ID)
	}
	tables, err := s.open.Service.Tables(ctx, info.ID)
	if err != nil && !errors.Is(err, catalog.ErrNoScan) {
		s.app.Errorf("note: names are not completed: %s\n", console.EscapeControls(err.Error()))
	}
	s.connection, s.dialect, s.tables = info, dialect, tables
	return nil
}

func (s *shell) listConnections(ctx context.Context) {
	var rows [][]console.Cell
	for _, c := range s.open.Gateway.Connections(ctx) {
		used := ""
		if c.ID == s.connection.ID {
			used = "*"
		}
		rows = append(rows, console.Texts(used, c.ID, c.Engine, c.Description))
	}
	s.table([]string{"", "connection", "engine", "description"}, rows)
}

func (s *shell) table(headers []string, rows [][]console.Cell) {
	s.app.Table(console.FormatPretty, headers, rows)
}

// describe lists the tables, or the columns of one.
func (s *shell) describe(ctx context.Context, name string) {
	if s.connection.ID == "" {
		s.complain(console.Usage(`no connection is chosen: \c lists them, \c ID takes one`))
		return
	}
	tables, err := s.open.Service.Tables(ctx, s.connection.ID)
	if err != nil {
		s.complain(err)
		return
	}
	s.tables = tables
	if name == "" {
		var rows [][]console.Cell
		for _, t := range tables {
			estimate := ""
			if t.EstimatedRows != nil {
				estimate = fmt.Sprint(*t.EstimatedRows)
			}
			rows = append(rows, console.Texts(t.Ref().DB, t.Name, string(t.Kind), estimate, textOf(t.Comment)))
		}
		s.table([]string{"schema", "table", "kind", "rows", "comment"}, rows)
		return
	}
	found := matching(tables, name)
	if len(found) == 0 {
		var names []string
		for _, t := range tables {
			names = append(names, t.Name)
		}
		s.complain(console.Usage("the latest scan has no table %s%s", name, console.DidYouMean(name, names)))
		return
	}
	for _, t := range found {
		s.app.Printf("%s\n", console.EscapeControls(strings.TrimPrefix(t.Ref().DB+"."+t.Name, ".")))
		var rows [][]console.Cell
		for _, c := range t.Columns {
			null, key := "not null", ""
			if c.Nullable {
				null = ""
			}
			if c.PrimaryKey {
				key = "primary key"
			}
			for _, f := range t.ForeignKeys {
				if f.FromColumn == c.Name {
					key = strings.TrimPrefix(key+", → "+f.ToTable+"."+f.ToColumn, ", ")
				}
			}
			rows = append(rows, console.Texts(c.Name, c.NativeType, null, key, textOf(c.Comment)))
		}
		s.table([]string{"column", "type", "null", "key", "comment"}, rows)
	}
}

// matching returns the tables of that name, which may be quoted or qualified.
func matching(tables []*catalog.Table, name string) []*catalog.Table {
	name = unquoted.Replace(name)
	var out []*catalog.Table
	for _, t := range tables {
		if strings.EqualFold(name, t.Name) || strings.EqualFold(name, t.Ref().DB+"."+t.Name) {
			out = append(out, t)
		}
	}
	return out
}

// unquoted removes the quotes of names, of all dialects.
var unquoted = strings.NewReplacer(`"`, "", "`", "", "[", "", "]", "")

func textOf(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
