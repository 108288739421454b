package sqlguard

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// ID identifies everything that a guard's verdicts depend on: dialect, parser,
// session settings, policy, limits and catalogue. Two guards with the same ID give
// the same verdicts. The zero ID belongs to no guard.
type ID [sha256.Size]byte

// String returns the ID in hex.
func (id ID) String() string { return hex.EncodeToString(id[:]) }

// Guard judges SQL statements. It is safe for concurrent use and never changes:
// for another policy or catalogue, make another Guard.
type Guard struct {
	dialect Dialect
	tokens  tokenDialect   // the dialect as a tokenDialect, nil when it is none
	source  sourceDialect  // the dialect as a sourceDialect, nil when it is none
	secret  secretDialect  // the dialect as a secretDialect, nil when it is none
	values  valueDialect   // the dialect as a valueDialect, nil when it is none
	wording wordingDialect // the dialect as a wordingDialect, nil when it is none
	parser  string         // the dialect's version
	policy  Policy
	catalog Catalog
	knows   bool         // a server told the catalogue
	columns []ColumnRule // those of the policy, and those for columns derived from them
	objects *objects     // nil when the guard judges without them
	limits  screenLimits
	growth  *Growth // nil for a dialect without these tables
	traits  traits
	id      ID
	cache   verdictCache
}

// New returns a guard. c may be nil. The error says that the policy is not valid, or
// that the catalogue has objects and the dialect is not an [ObjectDialect].
func New(d Dialect, p Policy, c *Catalog) (*Guard, error) {
	if d == nil {
		return nil, errors.New("new guard: no dialect")
	}
	if err := p.Validate(); err != nil {
		return nil, fmt.Errorf("new guard: %w", err)
	}
	if p.MaxBytes == 0 {
		p.MaxBytes = DefaultMaxBytes
	}
	if s, ok := d.(ServerDialect); ok && c != nil && c.Product != "" {
		if d = s.ForServer(c.Product, c.Version); d == nil {
			return nil, fmt.Errorf("new guard: the dialect %s does not know %s %s", s.Name(), c.Product, c.Version)
		}
	}
	g := &Guard{dialect: d, parser: d.Version(), policy: p, limits: limitsFor(p.MaxBytes, stackBytes()), traits: traitsOf(d)}
	g.tokens, _ = d.(tokenDialect)
	g.source, _ = d.(sourceDialect)
	g.secret, _ = d.(secretDialect)
	g.values, _ = d.(valueDialect)
	g.growth = growthOf(d)
	g.wording, _ = d.(wordingDialect)
	if c != nil {
		g.knows = true
		g.catalog = Catalog{Major: c.Major, SearchPath: slices.Clone(c.SearchPath), Database: c.Database, EngineDenies: c.EngineDenies, Extensions: slices.Clone(c.Extensions), ExtensionSchemas: maps.Clone(c.ExtensionSchemas), Closed: slices.Clone(c.Closed), RowFunctions: slices.Clone(c.RowFunctions), Views: slices.Clone(c.Views)}
		if c.Objects != nil {
			path := g.catalog.SearchPath // the pinned path as the server resolved it
			if path == nil && len(p.SearchPath) > 0 {
				path = p.SearchPath
			}
			var err error
			if g.objects, err = newObjects(d, c.Objects, path); err != nil {
				return nil, fmt.Errorf("new guard: %w", err)
			}
		}
	}
	g.columns = p.Columns
	if c != nil {
		g.columns = g.derive(c.Derived)
	}
	identity, err := json.Marshal(struct {
		Name, Version string
		Session       []Setting
		Policy        Policy
		Limits        screenLimits
		Catalog       *Catalog
	}{d.Name(), g.parser, d.Session(), p, g.limits, c})
	if err != nil {
		return nil, fmt.Errorf("new guard: %w", err)
	}
	g.id = sha256.Sum256(identity)
	return g, nil
}

// traits are the results of a dialect's optional methods.
type traits struct {
	folds        bool              // names that differ only in case are the same name
	flat         bool              // schemas are databases
	qualified    bool              // names of relations commonly have their database
	systemSchema string            // of system relations whose name has no schema
	rowFunction  func(string) bool // reads the whole row x in x.f; nil without such functions
	// fold returns the form of a name that is compared with a name that a rule denies.
	// It may do more than ignore the case of letters.
	fold func(string) string
}

// same reports whether the server may treat two names as the same name.
func (t traits) same(a, b string) bool { return strings.EqualFold(t.fold(a), t.fold(b)) }

func traitsOf(d Dialect) traits {
	var t traits
	if d, ok := d.(interface{ FoldsNames() bool }); ok {
		t.folds = d.FoldsNames()
	}
	if d, ok := d.(interface{ SchemasAreDatabases() bool }); ok {
		t.flat = d.SchemasAreDatabases()
	}
	if d, ok := d.(interface{ NamesHaveDatabases() bool }); ok {
		t.qualified = d.NamesHaveDatabases()
	}
	if d, ok := d.(interface{ SystemSchema() string }); ok {
		t.systemSchema = d.SystemSchema()
	}
	if d, ok := d.(interface{ RowFunction(string) bool }); ok {
		t.rowFunction = d.RowFunction
	}
	t.fold = func(name string) string { return name }
	if d, ok := d.(interface{ FoldName(string) string }); ok {
		t.fold = d.FoldName
	}
	return t
}

// ID returns the guard's identity.
func (g *Guard) ID() ID { return g.id }

// Dialect returns the guard's dialect.
func (g *Guard) Dialect() Dialect { return g.dialect }

// Check judges sql. It refuses a statement that it cannot read, and every statement on
// which the dialect fails. It never returns an error.
func (g *Guard) Check(sql string) Verdict {
	if v, ok := g.cache.get(sql); ok {
		return v
	}
	v := g.check(sql, true, nil)
	g.cache.put(sql, v)
	return v
}

// CheckOnce is like Check, for statements that are checked only once, such as those of
// a file. It does not cache the verdict. The verdict has a normal form and a
// fingerprint only when it refuses.
func (g *Guard) CheckOnce(sql string) Verdict { return g.check(sql, false, nil) }

// CheckFor is like CheckOnce, but the verdict has no other findings than those of
// some codes. It is still the verdict of all: without findings, a statement can be
// refused.
func (g *Guard) CheckFor(sql string, codes []Code) Verdict { return g.check(sql, false, codes) }

// check judges sql. With named, the verdict on an allowed statement has the normal
// form too. With codes, it has only their findings.
func (g *Guard) check(sql string, named bool, codes []Code) (v Verdict) {
	blank := Verdict{
		Dialect: g.dialect.Name(), Parser: g.parser,
		Findings: []Finding{}, Relations: []VerdictRelation{}, Functions: []string{}, Types: []VerdictType{}, Columns: []string{},
	}
	v = blank
	defer func() {
		if r := recover(); r != nil {
			// The message does not say what failed: it could contain data.
			v = blank
			v.add(CodeInternalError, Span{0, len(sql)}, "the guard failed while it read this statement, and refuses it")
			v.finish(sql)
		}
	}()
	room := borrowTokens()
	tokens, ok := g.screen(sql, *room, &v)
	if ok {
		g.analyze(sql, tokens.List, &v)
		if v.Statements > 0 {
			g.measure(sql, tokens.List, &v)
		}
	}
	refused := len(v.Findings) > 0
	if codes != nil {
		v.Findings = slices.DeleteFunc(v.Findings, func(f Finding) bool { return !slices.Contains(codes, f.Code) })
	}
	g.reword(sql, tokens.List, &v)
	if tokens.List != nil && (named || refused) {
		v.Normalized, v.Fingerprint = normalize(sql, tokens)
	}
	returnTokens(room, tokens.List)
	v.finish(sql)
	if refused && len(v.Findings) == 0 {
		v.Allowed = false
	}
	return v
}

// analyze lets the dialect read the statement and judges the facts.
func (g *Guard) analyze(sql string, tokens []Token, v *Verdict) {
	statements, err := g.read(sql, tokens)
	if err != nil {
		syntax, ok := errors.AsType[*SyntaxError](err)
		if !ok {
			v.add(CodeInternalError, Span{0, len(sql)}, "the guard failed while it read this statement, and refuses it")
			return
		}
		v.add(CodeParseError, Span{syntax.Offset, syntax.Offset + 1}, syntax.Message)
		return
	}
	v.Statements = len(statements)
	switch {
	case len(statements) == 0:
		v.add(CodeEmptyStatement, Span{0, len(sql)}, "the text holds no statement")
		return
	case len(statements) > 1:
		v.add(CodeMultipleStatements, statements[1].Span, fmt.Sprintf("the text holds %d statements; a call runs one", len(statements)))
	}
	v.Verb = statements[0].Verb
	for i := range statements {
		g.judgeSource(&statements[i], sql, tokens, v)
		g.judgeShown(&statements[i], v)
		g.judgePlanned(&statements[i], v)
	}
	if g.objects != nil {
		q := inquiry{g: g, objects: g.objects, v: v}
		for i := range statements {
			q.judge(&statements[i])
		}
		q.settle()
		return
	}
	var listed seen
	for i := range statements {
		g.judge(&statements[i], v, &listed)
	}
}

func (g *Guard) read(sql string, tokens []Token) ([]Statement, error) {
	switch {
	case g.objects != nil:
		return g.objects.dialect.AnalyzeObjects(sql, PartStatement, g.objects)
	case g.tokens != nil:
		return g.tokens.AnalyzeTokens(sql, tokens)
	default:
		return g.dialect.Analyze(sql)
	}
}

// wordingDialect is a Dialect that says how its servers write what a statement wants.
type wordingDialect interface {
	Reword(sql string, tokens []Token, f Finding) Finding
}

// reword lets the dialect word the findings. It can change only what they say and where.
func (g *Guard) reword(sql string, tokens []Token, v *Verdict) {
	if g.wording == nil || tokens == nil {
		return
	}
	for i := range v.Findings[:min(len(v.Findings), maxFindings)] {
		f := &v.Findings[i]
		worded := g.wording.Reword(sql, tokens, *f)
		f.Message, f.Hint, f.Span = worded.Message, worded.Hint, worded.Span
	}
}

// add appends a finding. finish completes it later.
func (v *Verdict) add(code Code, span Span, message string) {
	v.Findings = append(v.Findings, Finding{Code: code, Span: span, Message: message})
}
