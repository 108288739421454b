package corpus

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Problem is one mistake in a case.
type Problem struct {
	ID      string // of the case; empty when it has none
	Message string
}

// String returns the case's ID and the message.
func (p Problem) String() string { return p.ID + ": " + p.Message }

// Lint returns the mistakes in cases that belong to this corpus, in the order
// of the cases. codes are the codes that a guard may give for a refusal; the
// corpus does not know them. No problems means: every ID is unique, well
// formed and agrees with class and dialect; every demand is one of the three;
// every refusal names known codes, an effect and a source, and has a benign
// twin of its own that must pass; no statement occurs twice in a dialect.
func Lint(cases []Case, codes []string) []Problem {
	l := linter{codes: codes, byID: map[string]Case{}, twinOf: map[string]string{}, texts: map[string]string{}}
	for _, c := range cases {
		if _, taken := l.byID[c.ID]; taken {
			l.add(c, "the ID is used twice")
		}
		l.byID[c.ID] = c
	}
	for _, c := range cases {
		l.identity(c)
		l.demand(c)
		l.twin(c)
		l.references(c)
	}
	for _, c := range cases {
		if isTwinID(c.ID) && l.twinOf[c.ID] == "" {
			l.add(c, "no case names it as its benign twin")
		}
	}
	return l.problems
}

type linter struct {
	codes    []string
	byID     map[string]Case
	twinOf   map[string]string // twin's ID to the ID of its case
	texts    map[string]string // dialect and statement to ID
	problems []Problem
}

func (l *linter) add(c Case, format string, args ...any) {
	l.problems = append(l.problems, Problem{ID: c.ID, Message: fmt.Sprintf(format, args...)})
}

var (
	numbered   = regexp.MustCompile(`^[0-9]{4}B?$`)
	versioned  = regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+$`)
	cwePattern = regexp.MustCompile(`^CWE-[0-9]+$`)
	cvePattern = regexp.MustCompile(`^CVE-[0-9]{4}-[0-9]{4,}$`)
	urlPattern = regexp.MustCompile(`^https://[a-z0-9.-]+(/[!-~]*)?$`)
)

func isTwinID(id string) bool { return strings.HasSuffix(id, "B") }

func (l *linter) identity(c Case) {
	dialect, known := dialectCode(c.Dialect)
	if !known {
		l.add(c, "unknown dialect %q", c.Dialect)
	}
	class, listed := classCode(c.Class)
	if !listed {
		l.add(c, "unknown class %q", c.Class)
	}
	prefix := "KTX-" + dialect + "-" + class + "-"
	if number, ok := strings.CutPrefix(c.ID, prefix); known && listed && (!ok || !numbered.MatchString(number)) {
		l.add(c, "the ID is not %s and four digits, with a B for a benign twin", prefix)
	}
	if c.Title == "" {
		l.add(c, "the title is missing")
	}
	if !versioned.MatchString(c.Since) {
		l.add(c, "since is %q, not a version", c.Since)
	}
	key := c.Dialect + "\x00" + c.Flavour + "\x00" + c.SQL
	if other, taken := l.texts[key]; taken {
		l.add(c, "the statement is the same as that of %s", other)
	}
	l.texts[key] = c.ID
}

func (l *linter) demand(c Case) {
	for _, code := range c.Codes {
		if !slices.Contains(l.codes, code) {
			l.add(c, "unknown code %q", code)
		}
	}
	switch c.Expect {
	case Reject:
		if len(c.Codes) == 0 {
			l.add(c, "a case that must be refused names no code")
		}
		if c.Effect == nil || c.Effect.Kind == "" {
			l.add(c, "a case that must be refused names no effect")
		}
	case Allow:
		if len(c.Codes) > 0 || c.Effect != nil {
			l.add(c, "a case that must pass has codes or an effect")
		}
	case Policy:
		if c.Policy == nil || c.Policy.Key == "" || c.Policy.Default != Reject && c.Policy.Default != Allow {
			l.add(c, "a case that depends on policy does not say on what, or what the default is")
		}
		if len(c.Codes) == 0 {
			l.add(c, "a case that depends on policy names no code for the refusal")
		}
	default:
		l.add(c, "expect is %q; it must be reject, allow or policy", c.Expect)
	}
	if c.Policy != nil && c.Expect != Policy {
		l.add(c, "names a policy and does not depend on it")
	}
}

func (l *linter) twin(c Case) {
	if c.BenignTwin == "" {
		if c.Expect == Reject {
			l.add(c, "a case that must be refused has no benign twin")
		}
		return
	}
	if c.Expect == Allow {
		l.add(c, "a case that must pass has a benign twin")
	}
	if c.BenignTwin != c.ID+"B" {
		l.add(c, "the benign twin is %s, not %sB", c.BenignTwin, c.ID)
	}
	twin, exists := l.byID[c.BenignTwin]
	switch {
	case !exists:
		l.add(c, "the benign twin %s does not exist", c.BenignTwin)
	case twin.Expect != Allow:
		l.add(c, "the benign twin %s must be allow, it is %q", c.BenignTwin, twin.Expect)
	case l.twinOf[c.BenignTwin] != "":
		l.add(c, "the benign twin %s is already that of %s", c.BenignTwin, l.twinOf[c.BenignTwin])
	}
	l.twinOf[c.BenignTwin] = c.ID
}

func (l *linter) references(c Case) {
	if c.Expect == Reject && len(c.Refs.CWE)+len(c.Refs.CVE)+len(c.Refs.URLs) == 0 {
		l.add(c, "a case that must be refused has no source")
	}
	for _, id := range c.Refs.CWE {
		if !cwePattern.MatchString(id) {
			l.add(c, "%q is not a CWE number", id)
		}
	}
	for _, id := range c.Refs.CVE {
		if !cvePattern.MatchString(id) {
			l.add(c, "%q is not a CVE number", id)
		}
	}
	for _, ref := range c.Refs.URLs {
		if !urlPattern.MatchString(ref) {
			l.add(c, "%q is not an https address", ref)
		}
	}
	for i, e := range c.Evidence {
		observed := e.Engine != "" && e.Version != "" && e.Outcome != "" && e.Date != ""
		documented := e.Source == "docs" && e.Ref != ""
		if observed == documented {
			l.add(c, "evidence %d is neither an observation (engine, version, outcome, date) nor a document (source, ref)", i+1)
		}
	}
}
