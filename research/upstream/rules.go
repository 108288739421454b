package upstream

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Patterns is a list of patterns for names of tools. A pattern is a glob, in which *
// stands for any characters, ? for one, and [abc] for one of them; or /regex/flags, in
// the syntax of RE2, with the flags i, s and m, which finds its match anywhere in the
// name. A pattern after ! excludes what it matches.
//
// A list matches a name if a pattern matches it and none that excludes does, in any
// order. A list that only excludes matches everything else. A glob with a colon is
// compared with server:tool, any other pattern with the name of the tool. Names are
// compared without case, after Unicode normalization NFKC.
type Patterns struct {
	positive, negative []pattern
}

type pattern struct {
	expr      *regexp.Regexp
	qualified bool // compared with server:tool
}

// ParsePatterns reads a list of patterns. The error names the pattern by its position.
func ParsePatterns(list []string) (Patterns, error) {
	var out Patterns
	for i, text := range list {
		p, negative, err := parsePattern(text)
		if err != nil {
			return Patterns{}, &PatternError{Index: i, Reason: err.Error()}
		}
		if negative {
			out.negative = append(out.negative, p)
		} else {
			out.positive = append(out.positive, p)
		}
	}
	return out, nil
}

// PatternError says which pattern of a list is wrong.
type PatternError struct {
	Index  int
	Reason string
}

// Error returns the reason.
func (e *PatternError) Error() string { return e.Reason }

// maxPattern bounds a pattern, in bytes.
const maxPattern = 1000

func parsePattern(text string) (p pattern, negative bool, err error) {
	body, negative := strings.CutPrefix(strings.TrimSpace(text), "!")
	switch {
	case body == "":
		return p, false, fmt.Errorf("%q is not a pattern: it is empty", text)
	case len(body) > maxPattern:
		return p, false, fmt.Errorf("the pattern is longer than %d bytes", maxPattern)
	}
	if strings.HasPrefix(body, "/") {
		end := strings.LastIndex(body, "/")
		if end == 0 {
			return p, false, fmt.Errorf("%q is not a pattern: a regular expression ends with /, such as /^get_/i", text)
		}
		flags := body[end+1:]
		for _, f := range flags {
			if !strings.ContainsRune("ism", f) {
				return p, false, fmt.Errorf("%q is not a pattern: the flag %q is not one of i, s and m", text, f)
			}
		}
		p.expr, err = regexp.Compile("(?i" + strings.ReplaceAll(flags, "i", "") + ")" + norm.NFKC.String(body[1:end]))
		if err != nil {
			return p, false, fmt.Errorf("%q is not a pattern: %s", text, strings.TrimPrefix(err.Error(), "error parsing regexp: "))
		}
		return p, negative, nil
	}
	expr, err := globExpr(fold(body))
	if err != nil {
		return p, false, fmt.Errorf("%q is not a pattern: %w", text, err)
	}
	p.expr, err = regexp.Compile(expr)
	if err != nil {
		return p, false, fmt.Errorf("%q is not a pattern: its brackets hold no valid set of characters", text)
	}
	p.qualified = strings.Contains(body, ":")
	return p, negative, nil
}

// globExpr writes a glob as a regular expression.
func globExpr(glob string) (string, error) {
	var b strings.Builder
	b.WriteString(`(?s)\A`)
	for i := 0; i < len(glob); {
		switch c := glob[i]; c {
		case '*':
			b.WriteString(".*")
			i++
		case '?':
			b.WriteByte('.')
			i++
		case '[':
			end := strings.IndexByte(glob[i+1:], ']')
			if end < 1 {
				return "", fmt.Errorf("a [ has no ]")
			}
			set := glob[i+1 : i+1+end]
			b.WriteByte('[')
			if set[0] == '!' || set[0] == '^' {
				b.WriteByte('^')
				set = set[1:]
			}
			if set == "" {
				return "", fmt.Errorf("[] holds no characters")
			}
			b.WriteString(strings.NewReplacer(`\`, `\\`, "[", `\[`, "^", `\^`).Replace(set))
			b.WriteByte(']')
			i += end + 2
		default:
			next := i + 1
			for next < len(glob) && !strings.ContainsRune("*?[", rune(glob[next])) {
				next++
			}
			b.WriteString(regexp.QuoteMeta(glob[i:next]))
			i = next
		}
	}
	b.WriteString(`\z`)
	return b.String(), nil
}

var folder = cases.Fold()

// fold returns the form in which names are compared.
func fold(name string) string { return folder.String(norm.NFKC.String(name)) }

// Match reports whether the list matches a tool of a server.
func (p Patterns) Match(server, tool string) bool {
	tool = fold(tool)
	whole := fold(server) + ":" + tool
	matches := func(x pattern) bool {
		if x.qualified {
			return x.expr.MatchString(whole)
		}
		return x.expr.MatchString(tool)
	}
	if slices.ContainsFunc(p.negative, matches) {
		return false
	}
	return len(p.positive) == 0 && len(p.negative) > 0 || slices.ContainsFunc(p.positive, matches)
}

// rule is a [Rule] that is compiled.
type rule struct {
	Rule
	match    Patterns
	server   *Patterns
	position int // in the configuration, from 1
}

func compileRules(list []Rule) ([]rule, error) {
	out := make([]rule, len(list))
	for i, r := range list {
		match, err := ParsePatterns(r.Match)
		if err != nil {
			return nil, fmt.Errorf("rule %d: %w", i+1, err)
		}
		out[i] = rule{Rule: r, match: match, position: i + 1}
		if r.Server != "" {
			server, err := ParsePatterns([]string{r.Server})
			if err != nil {
				return nil, fmt.Errorf("rule %d: server: %w", i+1, err)
			}
			out[i].server = &server
		}
		if r.SQL != nil && (r.SQL.Argument == "" || (r.SQL.Dialect == "") == (r.SQL.Connection == "")) {
			return nil, fmt.Errorf("rule %d: sql: give argument, and either dialect or connection", i+1)
		}
	}
	return out, nil
}

// of reports whether the rule is about a server.
func (r *rule) of(server string) bool { return r.server == nil || r.server.Match("", server) }

// Standing is what the rules say about one tool.
type Standing struct {
	Enabled bool
	// Reason says what decided, such as "rule 2" or "not annotated read-only".
	Reason string
	Tags   []string
	// SQL are the arguments that the guard judges, in the order of the rules.
	SQL []SQLRule
}

// standing applies the rules to a tool.
func standing(rules []rule, server, tool string, readOnly bool) Standing {
	var s Standing
	decided := false
	whitelist := 0 // the first rule that enables something of this server
	for i := range rules {
		r := &rules[i]
		if !r.of(server) {
			continue
		}
		if r.Enabled != nil && *r.Enabled && whitelist == 0 {
			whitelist = r.position
		}
		if !r.match.Match(server, tool) {
			continue
		}
		for _, tag := range r.Tags {
			if !slices.Contains(s.Tags, tag) {
				s.Tags = append(s.Tags, tag)
			}
		}
		if r.SQL != nil {
			s.SQL = append(s.SQL, *r.SQL)
		}
		if r.Enabled != nil && !decided {
			decided = true
			s.Enabled, s.Reason = *r.Enabled, fmt.Sprintf("rule %d", r.position)
		}
	}
	switch {
	case decided:
	case whitelist > 0:
		s.Reason = fmt.Sprintf("rule %d enables other tools only", whitelist)
	case readOnly:
		s.Enabled, s.Reason = true, "annotated read-only"
	default:
		s.Reason = "not annotated read-only"
	}
	slices.Sort(s.Tags)
	return s
}
