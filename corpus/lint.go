package corpus

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxTitle is the most characters of a title.
const maxTitle = 120

// Problem is one mistake in a case.
type Problem struct {
	Index   int    // of the case in the slice that was given
	ID      string // of the case; empty when it has none
	Field   string // the faulty field, by its name in class files
	Message string
}

// String returns the case's ID and the message.
func (p Problem) String() string { return p.ID + ": " + p.Message }

// Lint returns the mistakes in cases of this corpus, in the order of the cases.
// codes are the codes that a guard may return; the corpus does not know them.
// If there are no problems: every ID is unique, well formed, and agrees with
// class and dialect. Every demand is reject, allow or policy. Every reject case
// has known codes, an effect, a source, and its own benign twin, which is an
// allow case. Evidence of every reject case shows its effect, or not_shown says why none
// does; in a dialect without an engine it cites a document. No statement occurs twice in a dialect.
func Lint(cases []Case, codes []string) []Problem {
	l := newLinter(cases, codes)
	for i, c := range cases {
		l.at = i
		l.identity(c)
		l.statement(c)
		l.demand(c)
		l.effect(c)
		l.engine(c)
		l.twin(c)
		l.references(c)
		l.shown(c)
	}
	for i, c := range cases {
		if l.at = i; isTwinID(c.ID) && l.twinOf[c.ID] == "" {
			l.add(c, "id", "no case names it as its benign twin")
		}
	}
	return l.problems
}

// LintOthers returns the mistakes in cases of other origin. They may have any
// ids and classes, and need neither sources nor twins. If there are no
// problems: every ID is unique. Every dialect and demand is known. Every code
// and twin that a case names exists. No statement occurs twice in a dialect.
func LintOthers(cases []Case, codes []string) []Problem {
	l := newLinter(cases, codes)
	for i, c := range cases {
		l.at = i
		if _, known := dialectCode(c.Dialect); !known {
			l.add(c, "dialect", "unknown dialect %q", c.Dialect)
		}
		if c.ID == "" {
			l.add(c, "id", "the ID is missing")
		}
		l.statement(c)
		l.known(c)
		if c.Expect != Reject && c.Expect != Allow && c.Expect != Policy {
			l.add(c, "expect", "expect is %q; it must be reject, allow or policy", c.Expect)
		}
		if twin, exists := l.byID[c.BenignTwin]; c.BenignTwin != "" && (!exists || twin.Expect != Allow) {
			l.add(c, "benign_twin", "the benign twin %s does not exist, or is not to be allowed", c.BenignTwin)
		}
	}
	return l.problems
}

// newLinter returns a linter, which knows the IDs that are used twice.
func newLinter(cases []Case, codes []string) *linter {
	l := &linter{codes: codes, byID: map[string]Case{}, twinOf: map[string]string{}, texts: map[string]string{}}
	for i, c := range cases {
		if _, taken := l.byID[c.ID]; taken {
			l.at = i
			l.add(c, "id", "the ID is used twice")
		}
		l.byID[c.ID] = c
	}
	return l
}

type linter struct {
	codes    []string
	byID     map[string]Case
	twinOf   map[string]string // twin's ID to the ID of its case
	texts    map[string]string // dialect and statement to ID
	at       int               // the index of the current case
	problems []Problem
}

func (l *linter) add(c Case, field, format string, args ...any) {
	l.problems = append(l.problems, Problem{Index: l.at, ID: c.ID, Field: field, Message: fmt.Sprintf(format, args...)})
}

var (
	numbered   = regexp.MustCompile(`^[0-9]{4}B?$`)
	versioned  = regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+$`)
	dotted     = regexp.MustCompile(`^[0-9]+(\.[0-9]+)*$`)
	cwePattern = regexp.MustCompile(`^CWE-[0-9]+$`)
	cvePattern = regexp.MustCompile(`^CVE-[0-9]{4}-[0-9]{4,}$`)
	urlPattern = regexp.MustCompile(`^https://[a-z0-9.-]+(/[!-~]*)?$`)
)

// Shown reports whether an engine has shown the effect of the statement: what it changed,
// the rows of a statement that reads, or the time that it took.
func (c Case) Shown() bool {
	return c.Effect != nil && slices.ContainsFunc(c.Evidence, func(e Evidence) bool { return e.shows(c.Effect.Kind) })
}

// limitOnFiles is what PostgreSQL says of a statement that the prover's limit on temporary
// files stopped.
const limitOnFiles = "failed 53400"

// traces are the changes that show an effect, each by its first word, for the kinds of
// effects that a change of something else does not show.
var traces = map[string][]string{
	"data_write": {"rows", "row", "changes", "replication", "file", "parts", "catalog", "catalogue"},
	"file_write": {"file"},
	"file_read":  {"rows"}, // into which a file was read
	"network":    {"connection"},
	"lock":       {"lock", "row", "transaction"},
	"sequence":   {"sequence", "catalog"}, // DuckDB has them in a catalog
	"disclosure": {},
	"resource":   {},
}

// shows reports whether an observation shows an effect of this kind. That the prover's time
// limit stopped a statement shows nothing.
func (e Evidence) shows(kind string) bool {
	switch kind {
	case "none", "hidden_text":
		return e.Outcome == "executed"
	case "file_read", "disclosure", "hidden_sql", "code_execution":
		if strings.Contains(e.Probe, "returned_rows") {
			return true
		}
	case "resource":
		if e.Outcome == "crashed" || e.Outcome == limitOnFiles || strings.Contains(e.Probe, "took_a_second") {
			return true
		}
	case "server_control":
		if e.Outcome == "crashed" {
			return true
		}
	}
	return e.changed(kind)
}

// changed reports whether something had changed after the statement that is a trace of an effect of this kind.
func (e Evidence) changed(kind string) bool {
	_, changes, any := strings.Cut(e.Probe, "changed: ")
	words, some := traces[kind]
	if !any || !some {
		return any
	}
	for change := range strings.SplitSeq(changes, ", ") {
		if first, _, _ := strings.Cut(change, " "); slices.Contains(words, first) {
			return true
		}
	}
	return false
}

// notShownKinds are the kinds of reasons why no engine has shown a case.
var notShownKinds = []string{"refused", "client", "unbound", "absent", "withheld", "momentary", "idle", "unseen"}

// withoutEngine are the dialects of which no engine can be had here. Their cases cite
// documents.
var withoutEngine = []string{"sqlserver", "bigquery"}

// shown reports a case that must be refused, whose effect no engine showed, and that does
// not say why; one that says why although an engine has shown it; and, in a dialect without
// an engine, one that cites no document.
func (l *linter) shown(c Case) {
	cites := slices.ContainsFunc(c.Evidence, func(e Evidence) bool { return e.Source == "docs" })
	switch {
	case c.NotShown != nil && c.Expect != Reject:
		l.add(c, "not_shown", "only a case that must be refused says why no engine has shown it")
	case c.NotShown != nil && c.Shown():
		l.add(c, "not_shown", "the evidence shows what it does")
	case c.NotShown != nil && (!slices.Contains(notShownKinds, c.NotShown.Kind) || c.NotShown.Text == ""):
		l.add(c, "not_shown", "it must have a text, and one of the kinds %s", strings.Join(notShownKinds, ", "))
	case c.NotShown != nil || c.Expect != Reject || !slices.Contains(effects, c.effectKind()):
	case slices.Contains(withoutEngine, c.Dialect):
		if !cites {
			l.add(c, "evidence", "no engine of %s can be had: evidence must cite a document, as {source: docs, ref: URL}", c.Dialect)
		}
	case !c.Shown():
		l.add(c, "evidence", "no evidence shows the effect %s: have ktx-prove write it, or say in not_shown why no engine shows it", c.effectKind())
	}
}

// effectKind returns the kind of effect of a case, or "" when it has none.
func (c Case) effectKind() string {
	if c.Effect == nil {
		return ""
	}
	return c.Effect.Kind
}

func isTwinID(id string) bool { return strings.HasSuffix(id, "B") }

func (l *linter) identity(c Case) {
	dialect, known := dialectCode(c.Dialect)
	if !known {
		l.add(c, "dialect", "unknown dialect %q", c.Dialect)
	}
	class, listed := classCode(c.Class)
	if !listed {
		l.add(c, "class", "unknown class %q", c.Class)
	}
	prefix := "KTX-" + dialect + "-" + class + "-"
	if number, ok := strings.CutPrefix(c.ID, prefix); known && listed && (!ok || !numbered.MatchString(number)) {
		l.add(c, "id", "the ID is not %s and four digits, with a B for a benign twin", prefix)
	}
	switch n := utf8.RuneCountInString(c.Title); {
	case n == 0:
		l.add(c, "title", "the title is missing")
	case n > maxTitle:
		l.add(c, "title", "the title is longer than %d characters", maxTitle)
	}
	if !versioned.MatchString(c.Since) {
		l.add(c, "since", "since is %q, not a version", c.Since)
	}
}

func (l *linter) statement(c Case) {
	key := c.Dialect + "\x00" + c.Flavour + "\x00" + c.SQL
	if other, taken := l.texts[key]; taken {
		l.add(c, "sql", "the statement is the same as that of %s", other)
	}
	l.texts[key] = c.ID
}

// known reports codes that do not exist.
func (l *linter) known(c Case) {
	for _, code := range c.Codes {
		if !slices.Contains(l.codes, code) {
			l.add(c, "codes", "unknown code %q", code)
		}
	}
}

func (l *linter) demand(c Case) {
	l.known(c)
	switch c.Expect {
	case Reject:
		if len(c.Codes) == 0 {
			l.add(c, "codes", "a case that must be refused names no code")
		}
		if c.Effect == nil || c.Effect.Kind == "" {
			l.add(c, "effect", "a case that must be refused names no effect")
		}
	case Allow:
		if len(c.Codes) > 0 || c.Effect != nil {
			l.add(c, "codes", "a case that must pass has codes or an effect")
		}
	case Policy:
		if c.Policy == nil || c.Policy.Key == "" || c.Policy.Default != Reject && c.Policy.Default != Allow {
			l.add(c, "policy", "a case that depends on policy does not say on what, or what the default is")
		}
		if len(c.Codes) == 0 {
			l.add(c, "codes", "a case that depends on policy names no code for the refusal")
		}
	default:
		l.add(c, "expect", "expect is %q; it must be reject, allow or policy", c.Expect)
	}
	if c.Policy != nil && c.Expect != Policy {
		l.add(c, "policy", "names a policy and does not depend on it")
	}
}

func (l *linter) effect(c Case) {
	if c.Effect != nil && c.Effect.Kind != "" && !slices.Contains(effects, c.Effect.Kind) {
		l.add(c, "effect", "unknown effect %q", c.Effect.Kind)
	}
}

func (l *linter) engine(c Case) {
	if c.Flavour != "" && (c.Flavour != "mariadb" || c.Dialect != "mysql") {
		l.add(c, "flavour", "unknown flavour %q of %s", c.Flavour, c.Dialect)
	}
	if c.Engine == nil {
		return
	}
	if !slices.Contains(engines, c.Engine.Name) {
		l.add(c, "engine", "unknown engine %q", c.Engine.Name)
	}
	for _, version := range []string{c.Engine.Min, c.Engine.Max} {
		if version != "" && !dotted.MatchString(version) {
			l.add(c, "engine", "%q is not a version of an engine", version)
		}
	}
}

func (l *linter) twin(c Case) {
	if c.BenignTwin == "" {
		if c.Expect == Reject {
			l.add(c, "benign_twin", "a case that must be refused has no benign twin")
		}
		return
	}
	if c.Expect == Allow {
		l.add(c, "benign_twin", "a case that must pass has a benign twin")
	}
	if c.BenignTwin != c.ID+"B" {
		l.add(c, "benign_twin", "the benign twin is %s, not %sB", c.BenignTwin, c.ID)
	}
	twin, exists := l.byID[c.BenignTwin]
	switch {
	case !exists:
		l.add(c, "benign_twin", "the benign twin %s does not exist", c.BenignTwin)
	case twin.Expect != Allow:
		l.add(c, "benign_twin", "the benign twin %s must be allow, it is %q", c.BenignTwin, twin.Expect)
	case l.twinOf[c.BenignTwin] != "":
		l.add(c, "benign_twin", "the benign twin %s is already that of %s", c.BenignTwin, l.twinOf[c.BenignTwin])
	}
	l.twinOf[c.BenignTwin] = c.ID
}

func (l *linter) references(c Case) {
	if c.Expect == Reject && len(c.Refs.CWE)+len(c.Refs.CVE)+len(c.Refs.URLs) == 0 {
		l.add(c, "refs", "a case that must be refused has no source")
	}
	for _, id := range c.Refs.CWE {
		if !cwePattern.MatchString(id) {
			l.add(c, "refs", "%q is not a CWE number", id)
		}
	}
	for _, id := range c.Refs.CVE {
		if !cvePattern.MatchString(id) {
			l.add(c, "refs", "%q is not a CVE number", id)
		}
	}
	for _, ref := range c.Refs.URLs {
		if !urlPattern.MatchString(ref) {
			l.add(c, "refs", "%q is not an https address", ref)
		}
	}
	for i, e := range c.Evidence {
		observed := e.Engine != "" && e.Version != "" && e.Outcome != "" && e.Date != ""
		documented := e.Source == "docs" && e.Ref != ""
		if observed == documented {
			l.add(c, "evidence", "evidence %d is neither an observation (engine, version, outcome, date) nor a document (source, ref)", i+1)
		}
	}
}
