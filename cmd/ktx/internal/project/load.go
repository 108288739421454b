package project

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/ktxhq/ktx/sqlguard"
)

// MaxFile bounds ktx.yaml, in bytes.
const MaxFile = 4 << 20

// Project is a directory with its configuration.
type Project struct {
	Dir      string
	File     string // the path of its ktx.yaml
	Config   Config
	Warnings []Problem

	variables map[string]string // of the file that the key env names
}

// PatternRule reports whether a pattern of check.overrides is valid. The package
// itself does not know the syntax of patterns.
type PatternRule func(pattern string) bool

// Load reads the ktx.yaml of dir. The error is *[InvalidError] when the file can be
// read but is not valid; it lists every problem.
func Load(dir string, valid PatternRule) (*Project, error) {
	file := filepath.Join(dir, FileName)
	f, err := os.Open(file) //nolint:gosec // the user names the project
	if err != nil {
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(io.LimitReader(f, MaxFile+1))
	if err != nil {
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	if len(text) > MaxFile {
		return nil, fmt.Errorf("read configuration: %s is larger than 4 MiB", file)
	}
	config, problems := Parse(text, valid)
	p := &Project{Dir: dir, File: file, Config: config}
	problems = append(problems, p.readVariables()...)
	problems = append(problems, p.importServers()...)
	faulty := false
	for _, problem := range problems {
		if problem.Warning {
			p.Warnings = append(p.Warnings, problem)
		}
		faulty = faulty || !problem.Warning
	}
	if faulty {
		return nil, &InvalidError{File: file, List: problems}
	}
	return p, nil
}

// Parse reads the content of a ktx.yaml and returns all errors and warnings, ordered
// by line.
func Parse(text []byte, valid PatternRule) (Config, []Problem) {
	var (
		config       Config
		root, second yaml.Node
		d            decoder
	)
	dec := yaml.NewDecoder(bytes.NewReader(text))
	switch err := dec.Decode(&root); {
	case errors.Is(err, io.EOF): // an empty file is a valid one
	case err != nil:
		return config, []Problem{syntaxProblem(err)}
	case !errors.Is(dec.Decode(&second), io.EOF):
		d.add(Problem{Path: FileName, Line: max(second.Line, 1), Message: "the file holds more than one document"})
	default:
		d.decode(root.Content[0], reflect.ValueOf(&config).Elem(), "", "")
		checker{&d, root.Content[0], valid, len(d.problems)}.config(&config)
	}
	slices.SortStableFunc(d.problems, func(a, b Problem) int { return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Path, b.Path)) })
	return config, d.problems
}

var yamlError = regexp.MustCompile(`^yaml: (?:line (\d+): )?(.*)`)

// syntaxProblem returns an error of the YAML parser as a problem. It leaves out
// values, which may be secrets: the parser reads a password that begins with * and
// is not quoted as an alias.
func syntaxProblem(err error) Problem {
	p := Problem{Path: FileName, Line: 1, Message: "the file is not valid YAML"}
	if m := yamlError.FindStringSubmatch(err.Error()); m != nil {
		p.Message = m[2]
		if line, err := strconv.Atoi(m[1]); err == nil {
			p.Line = line
		}
		if strings.HasPrefix(p.Message, "did not find expected") {
			p.Line++ // the parser, unlike the scanner, counts lines from 0
		}
	}
	if strings.HasPrefix(p.Message, "unknown anchor") {
		p.Message = "an alias (*name) has no anchor; quote a value that begins with *"
	}
	return p
}

// Policy returns the guard's policy of a connection under the guard block g.
func (c Connection) Policy(g Guard) sqlguard.Policy {
	p := sqlguard.DefaultPolicy()
	p.MaxBytes, p.MaxConstant = int(g.MaxBytes), int64(g.MaxConstant)
	if g.ExplainAnalyze != nil {
		p.AllowExplainAnalyze = *g.ExplainAnalyze
	}
	p.AllowUnresolvedTypes = g.Types != "refuse"
	for _, group := range g.Reveal {
		p.Reveal = append(p.Reveal, sqlguard.Group(group))
	}
	p.Functions.Deny = c.Functions.Deny
	for _, f := range c.Functions.Allow {
		if f.Trust {
			p.Trusted = append(p.Trusted, f.Function)
		} else {
			p.Functions.Allow = append(p.Functions.Allow, f.Function)
		}
	}
	p.Schemas = sqlguard.Names(c.Access.Schemas)
	p.Tables = sqlguard.Names(c.Access.Tables)
	for _, rule := range c.Access.Columns {
		p.Columns = append(p.Columns, sqlguard.ColumnRule{Match: rule.Match})
	}
	p.SearchPath = c.Schemas
	return p
}
