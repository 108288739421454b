package project

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/ktxhq/ktx/sqlguard"
)

// maxFile bounds ktx.yaml.
const maxFile = 4 << 20

// Project is a directory with its configuration.
type Project struct {
	Dir      string
	Config   Config
	Warnings []Problem
}

// Load reads the ktx.yaml of dir. The error is *[Problems] when the file is
// readable but not valid; it lists every fault.
func Load(dir string) (*Project, error) {
	f, err := os.Open(filepath.Join(dir, FileName))
	if err != nil {
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	if len(text) > maxFile {
		return nil, fmt.Errorf("read configuration: %s is larger than 4 MiB", FileName)
	}
	config, problems := Parse(text)
	p := &Project{Dir: dir, Config: config}
	faulty := false
	for _, problem := range problems {
		if problem.Warning {
			p.Warnings = append(p.Warnings, problem)
		}
		faulty = faulty || !problem.Warning
	}
	if faulty {
		return nil, &Problems{List: problems}
	}
	return p, nil
}

// Parse reads the text of a ktx.yaml and returns every fault and warning,
// ordered by line.
func Parse(text []byte) (Config, []Problem) {
	var (
		config Config
		root   yaml.Node
		d      decoder
	)
	dec := yaml.NewDecoder(bytes.NewReader(text))
	switch err := dec.Decode(&root); {
	case errors.Is(err, io.EOF): // an empty file is a valid one
	case err != nil:
		return config, []Problem{{Path: FileName, Line: errorLine(err), Message: err.Error()}}
	case dec.Decode(new(yaml.Node)) != io.EOF: //nolint:errorlint // the decoder returns io.EOF itself
		d.fault(&root, FileName, "the file holds more than one document")
	default:
		d.decode(root.Content[0], reflect.ValueOf(&config).Elem(), "", "")
		d.validate(root.Content[0], &config)
	}
	slices.SortStableFunc(d.problems, func(a, b Problem) int { return cmp.Compare(a.Line, b.Line) })
	return config, d.problems
}

var lineInError = regexp.MustCompile(`line (\d+)`)

func errorLine(err error) int {
	line := 1
	if m := lineInError.FindStringSubmatch(err.Error()); m != nil {
		_, _ = fmt.Sscan(m[1], &line)
	}
	return line
}

var connectionID = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9_-]*$`)

// validate checks what the types alone do not say.
func (d *decoder) validate(root *yaml.Node, c *Config) {
	report := func(path []string, err error) {
		if err == nil {
			return
		}
		n := root
		dotted := ""
		for _, key := range path {
			dotted = join(dotted, key)
			if child := childOf(n, key); child != nil {
				n = child
			}
		}
		d.fault(n, dotted, "%v", err)
	}
	report([]string{"audit"}, c.Audit.Validate())
	for _, id := range slices.Sorted(maps.Keys(c.Connections)) {
		conn := c.Connections[id]
		at := []string{"connections", id}
		if !connectionID.MatchString(id) {
			report(at, errors.New("an id is letters, digits, _ and -, and begins with a letter or digit"))
		}
		if conn.Driver == "" {
			report(at, errors.New("driver is missing"))
		}
		if conn.URL != "" && (conn.Host != "" || conn.Path != "") || conn.Host != "" && conn.Path != "" {
			report(at, errors.New("give one of url, host and path"))
		}
		for i, rule := range conn.Access.Columns {
			if rule.Action != "deny" {
				report(append(at, "access", "columns"), fmt.Errorf("rule %d: action must be deny", i+1))
			}
		}
		if g := c.GuardOf(id); g.Catalog != nil && *g.Catalog {
			report(append(at, "guard"), errors.New("catalog: true is not available in this version; without it user functions are refused unless functions.allow names them"))
		}
		report(at, conn.Policy(c.GuardOf(id)).Validate())
	}
	if g := c.Guard.MaxBytes; g > sqlguard.CeilingMaxBytes {
		report([]string{"guard", "maxBytes"}, fmt.Errorf("at most 256KiB"))
	}
}

func childOf(n *yaml.Node, key string) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}

// Policy returns the guard's policy of a connection under the guard block g.
func (c Connection) Policy(g Guard) sqlguard.Policy {
	p := sqlguard.DefaultPolicy()
	p.MaxBytes = int(g.MaxBytes)
	if g.ExplainAnalyze != nil {
		p.AllowExplainAnalyze = *g.ExplainAnalyze
	}
	p.AllowUnresolvedTypes = g.Types != "refuse"
	p.Functions = sqlguard.Names(c.Functions)
	p.Schemas = sqlguard.Names(c.Access.Schemas)
	p.Tables = sqlguard.Names(c.Access.Tables)
	for _, rule := range c.Access.Columns {
		p.Columns = append(p.Columns, sqlguard.ColumnRule{Match: rule.Match})
	}
	p.SearchPath = c.Schemas
	return p
}
