package project

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ktxhq/ktx/cmd/ktx/internal/atomicfile"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/fresh"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/wiring"
	"github.com/ktxhq/ktx/cmd/ktx/internal/project"
	"github.com/ktxhq/ktx/execution"
)

// interview makes the connection of a new project from flags and answers.
type interview struct {
	app     *console.App
	prompt  *console.Prompt // nil when nobody is asked
	dir     string
	options initOptions

	asked           bool // the user wants a connection
	probe           *probeResult
	scanned         bool
	tables, columns int
}

// The answers to the question for the engine that are no engine.
const (
	answerDemo = "demo"
	answerNone = "none"
)

// askEngine asks for the engine of the database.
func (i *interview) askEngine() error {
	known := append(slices.Clone(fresh.Drivers), answerDemo, answerNone)
	usual := answerDemo
	switch found := dataFolder(i.dir); {
	case found != "" && wiring.HasDuckDB:
		usual = "duckdb"
	case found != "":
		i.app.Printf("%s has CSV or Parquet files, which only a build with DuckDB reads; %s\n", console.DisplayPath(found), wiring.NoDuckDB().Hint)
	}
	return i.prompt.Until("Which database? "+strings.Join(known, ", ")+" ["+usual+"]:", func(answer string) error {
		answer = cmp.Or(strings.ToLower(answer), usual)
		if !slices.Contains(known, answer) {
			return console.Usage("unknown engine %q%s", answer, console.DidYouMean(answer, known))
		}
		switch answer {
		case answerDemo:
			i.options.demo = true
		case answerNone:
		default:
			i.options.address.Driver, i.asked = answer, true
		}
		return nil
	})
}

// dataFolder returns the folder data of a project, or the project's own, when it has CSV or
// Parquet files that DuckDB can read, or "".
func dataFolder(project string) string {
	for _, folder := range []string{filepath.Join(project, "data"), project} {
		for _, pattern := range []string{"*.csv", "*.parquet"} {
			if found, err := filepath.Glob(filepath.Join(folder, pattern)); err == nil && len(found) > 0 {
				return folder
			}
		}
	}
	return ""
}

// addressesFile is where addresses with a password go, relative to the project.
const addressesFile = ".ktx/env"

// connection returns the connection of the new project, after it was tried.
func (i *interview) connection(ctx context.Context) (*fresh.Connected, error) {
	for {
		c, secret, err := i.describe()
		if err != nil {
			return nil, err
		}
		if !i.options.noTest {
			again, err := i.try(ctx, c, secret)
			if err != nil {
				return nil, err
			}
			if again {
				i.options.address.URL = ""
				continue
			}
		}
		return c, i.keep(c, secret)
	}
}

// describe returns the connection that the flags and answers describe, and the URL that
// must not stand in ktx.yaml, or "".
func (i *interview) describe() (c *fresh.Connected, secret string, err error) {
	at := &i.options.address
	if at.URL == "" {
		if err := i.askAddress(); err != nil {
			return nil, "", err
		}
	}
	driver, id, err := at.Described()
	if err != nil {
		return nil, "", err
	}
	if err := i.askNames(driver, id); err != nil {
		return nil, "", err
	}
	c = &fresh.Connected{ID: i.options.id, Driver: driver, Schemas: at.Schemas}
	switch {
	case (driver == "sqlite" || driver == "duckdb") && !fresh.Reference(at.URL):
		file, folder, err := at.File()
		switch {
		case err != nil:
			return nil, "", err
		case folder:
			c.Files = relativeTo(i.dir, file)
		default:
			c.Path = relativeTo(i.dir, file)
		}
	case project.NewSecret(at.URL).LiteralPassword():
		c.URL, c.Env, secret = "env:"+variableOf(c.ID), addressesFile, at.URL
	default:
		c.URL = at.URL
	}
	return c, secret, nil
}

// askAddress asks for the address of the database.
func (i *interview) askAddress() error {
	at := &i.options.address
	question := "Its address, such as " + map[string]string{
		"postgres": "postgres://reader:…@localhost:5432/shop", "mysql": "mysql://reader:…@localhost:3306/shop",
		"mariadb": "mariadb://reader:…@localhost:3306/shop", "sqlserver": "sqlserver://reader:…@localhost:1433?database=shop",
		"clickhouse": "clickhouse://reader:…@localhost:8123/shop", "bigquery": "bigquery://project/dataset",
	}[at.Driver] + ", or env:NAME:"
	found := ""
	switch at.Driver {
	case "sqlite":
		question = "The path of its file:"
	case "duckdb":
		question = "The path of its file, or of a folder of CSV, JSON or Parquet files:"
		if found = dataFolder(i.dir); found != "" {
			question = strings.TrimSuffix(question, ":") + " [" + console.DisplayPath(found) + "]:"
		}
	}
	return i.prompt.Until(question, func(answer string) error {
		answer = cmp.Or(answer, found)
		if answer == "" {
			return errors.New("please give the address")
		}
		asked := *at
		asked.URL = answer
		if _, _, err := asked.Described(); err != nil {
			return err
		}
		at.URL = answer
		return nil
	})
}

// askNames asks for the name of the connection and its schemas. Without a prompt it
// takes the defaults.
func (i *interview) askNames(driver, id string) error {
	accept := func(answer string) error {
		if !project.ValidID(answer) {
			return console.Usage("the name %q is not valid: use letters, digits, _ and -, and begin with a letter or digit", answer)
		}
		i.options.id = answer
		return nil
	}
	if i.options.id != "" || i.prompt == nil {
		return accept(cmp.Or(i.options.id, id))
	}
	if err := i.prompt.Until("A name for the connection ["+id+"]:", func(answer string) error { return accept(cmp.Or(answer, id)) }); err != nil {
		return err
	}
	if driver != "postgres" || len(i.options.address.Schemas) > 0 {
		return nil
	}
	return i.prompt.Until("Schemas in which names are looked up, with commas between [public]:", func(answer string) error {
		i.options.address.Schemas = strings.FieldsFunc(cmp.Or(answer, "public"), func(r rune) bool { return r == ',' || r == ' ' })
		return nil
	})
}

// try opens the connection and reports what its role may do. Again says that the user
// wants to give another address.
func (i *interview) try(ctx context.Context, c *fresh.Connected, secret string) (again bool, err error) {
	config, err := fresh.Content{Connection: c}.Config()
	if err != nil {
		return false, err
	}
	state, err := os.MkdirTemp("", "ktx-init-") // there is no project for the audit log yet
	if err != nil {
		return false, console.Failed("try the connection: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(state)) }()
	tried := config.Connections[c.ID]
	for _, path := range []*string{&tried.Path, &tried.Files} {
		if *path == "" || filepath.IsAbs(*path) {
			continue
		}
		if *path, err = filepath.Abs(filepath.Join(i.dir, *path)); err != nil {
			return false, console.Failed("try the connection: %w", err)
		}
	}
	config.Connections[c.ID] = tried
	trial := *i.app
	if secret != "" {
		trial.Lookup = func(name string) (string, bool) {
			if name == variableOf(c.ID) {
				return secret, true
			}
			return i.app.Lookup(name)
		}
	}
	p := &project.Project{Dir: state, File: filepath.Join(state, project.FileName), Config: config}
	var result probeResult
	err = wiring.WithProject(ctx, &trial, p, "cli", func(ctx context.Context, open *wiring.OpenProject) error {
		result = probe(ctx, &trial, open, c.ID, probeTime)
		return ctx.Err()
	})
	if err != nil {
		return false, err
	}
	i.probe = &result
	if !i.app.JSON {
		printProbe(i.app, result)
	}
	if result.OK {
		return false, i.offerRole(result)
	}
	if i.prompt == nil {
		return false, fmt.Errorf("%s does not answer, so nothing was written; --no-test writes it all the same: %w", c.ID, result.err)
	}
	keep, err := i.prompt.Yes("Keep this address all the same?", false)
	return !keep, err
}

// offerRole writes the SQL for a role that can only read, if the present role can do
// more and the user wants it.
func (i *interview) offerRole(result probeResult) error {
	more := slices.ContainsFunc(result.Report.Findings, func(f execution.ProbeFinding) bool { return f.Level == levelWarning && f.Topic == execution.TopicRole })
	if !more || result.Report.RoleScript == "" {
		return nil
	}
	name := i.options.roleScript
	if name == "" && i.prompt != nil {
		name = filepath.Join(i.dir, "ktx-role.sql")
		ok, err := i.prompt.Yes("The role can do more than read. Write the SQL for one that cannot to "+name+"?", true)
		if err != nil || !ok {
			return err
		}
	}
	if name == "" {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil { //nolint:gosec // a project is shared through version control
		return console.Failed("write the role's script: %w", err)
	}
	if err := atomicfile.WriteNew(name, 0o600, []byte(result.Report.RoleScript)); err != nil {
		return console.Failed("write the role's script: %w", err)
	}
	if !i.app.JSON {
		i.app.Printf("made %s: run it as an administrator, and give ktx the new role's address\n", name)
	}
	return nil
}

// keep writes a URL with a password into the file that only the user can read.
func (i *interview) keep(c *fresh.Connected, secret string) error {
	if secret == "" {
		return nil
	}
	if err := wiring.IgnoreState(i.dir); err != nil {
		return console.Failed("%w", err)
	}
	name := filepath.Join(i.dir, filepath.FromSlash(addressesFile))
	line := variableOf(c.ID) + "=" + quoteVariable(secret) + "\n"
	old, err := os.ReadFile(name) //nolint:gosec // the project's own state
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return console.Failed("write the address: %w", err)
	}
	for was := range strings.Lines(string(old)) { // an interrupted init may have left the variable
		if !strings.HasPrefix(was, variableOf(c.ID)+"=") {
			line = was + line
		}
	}
	if err := atomicfile.Write(name, 0o600, func(w io.Writer) error { _, err := io.WriteString(w, line); return err }); err != nil {
		return console.Failed("write the address: %w", err)
	}
	return nil
}

// variableOf returns the name of the variable for the address of a connection.
func variableOf(id string) string {
	return strings.ToUpper(strings.ReplaceAll(id, "-", "_")) + "_URL"
}

// quoteVariable returns a value as it stands in a file of variables. In single quotes
// nothing is expanded.
func quoteVariable(value string) string {
	return "'" + strings.ReplaceAll(value, "'", "%27") + "'"
}

// relativeTo returns the path of a file as ktx.yaml in dir has it: relative when the
// file is in dir, so that the project can be moved.
func relativeTo(dir, file string) string {
	full, err := filepath.Abs(dir)
	if err != nil {
		return file
	}
	rel, err := filepath.Rel(full, file)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return file
	}
	return rel
}
