package skills

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// headKeys are the keys of a head that the specification has.
var headKeys = []string{"name", "description", "license", "compatibility", "metadata", "allowed-tools"}

// metadataKeys are the keys of metadata that ktx reads.
var metadataKeys = []string{"status", "category", "forked-from", "author", "tags"}

// The values of status.
const (
	statusDraft     = "draft"
	statusPublished = "published"
)

// reader reads one SKILL.md.
type reader struct {
	path     string
	skill    *Skill
	problems []Problem
	line     int // lines before the head
}

// maxProblems is how many problems of a skill are kept.
const maxProblems = 50

func (r *reader) report(level Level, line int, rule Rule, format string, args ...any) {
	if len(r.problems) < maxProblems {
		r.problems = append(r.problems, Problem{Path: r.path, Line: max(line, 1), Rule: rule, Level: level, Message: fmt.Sprintf(format, args...)})
	}
}

func (r *reader) fault(line int, rule Rule, format string, args ...any) {
	r.report(LevelError, line, rule, format, args...)
}

// parse reads a SKILL.md that lies in a folder of this name. It returns the body, and
// fills in what the head says. If a problem is an error, the skill is not published.
func (r *reader) parse(folder string, text []byte) (body string) {
	if !utf8.Valid(text) {
		r.fault(1, RuleFile, "it is not UTF-8 text")
		return ""
	}
	s := strings.TrimPrefix(string(text), "\uFEFF")
	head, body, line, err := cutHead(s)
	if err != nil {
		r.fault(1, RuleHead, "%v", err)
		return ""
	}
	if c, at := Hidden(body); c != 0 {
		r.fault(strings.Count(s[:len(s)-len(body)], "\n")+at, RuleBody, "the instructions have the control character %U, which can hide text", c)
	}
	r.line = line
	root := r.yaml(head)
	if root == nil {
		return body
	}
	seen := map[string]*yaml.Node{}
	for i := 0; i+1 < len(root.Content); i += 2 {
		key, value := root.Content[i], root.Content[i+1]
		seen[key.Value] = value
		r.field(key, value)
	}
	if seen["name"] == nil {
		r.fault(1, RuleName, "name is missing; write name: %s", folder)
	} else if r.skill.Name != "" && r.skill.Name != folder {
		r.fault(seen["name"].Line+r.line, RuleName, "name is %s, and the folder is %s; they must be equal", excerpt(r.skill.Name, 80), quoted(folder))
	}
	if seen["description"] == nil {
		r.fault(1, RuleDescription, "description is missing; say what the skill does and when to use it")
	}
	if strings.TrimSpace(body) == "" {
		r.report(LevelWarning, 1, RuleBody, "there are no instructions after the head")
	}
	front, err := toJSON(root)
	if err != nil {
		line := 1
		if at, ok := errors.AsType[*headError](err); ok {
			line = at.line + r.line
		}
		r.fault(line, RuleHead, "%v", err)
		return body
	}
	r.skill.Frontmatter = front
	return body
}

// fence is the line before and after the head.
const fence = "---"

// cutHead divides a text after its head. line is the number of lines before the head.
func cutHead(text string) (head, body string, line int, err error) {
	first, rest, more := strings.Cut(text, "\n")
	if strings.TrimRight(first, " \t\r") != fence {
		return "", "", 0, errors.New("it has no head; begin the file with a line ---, the keys name and description, and a line ---")
	}
	start := rest
	for at := 0; more; {
		var current string
		current, rest, more = strings.Cut(rest, "\n")
		if strings.TrimRight(current, " \t\r") == fence {
			return start[:at], rest, 1, nil
		}
		if at += len(current) + 1; at > maxHead {
			return "", "", 0, fmt.Errorf("the head has more than %d KiB, or no line --- after it", maxHead>>10)
		}
	}
	return "", "", 0, errors.New("the head has no end; write a line --- after it")
}

// yaml parses a head. It returns nil if it is none.
func (r *reader) yaml(head string) *yaml.Node {
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(head), &doc); err != nil {
		line, message := 1, strings.TrimPrefix(err.Error(), "yaml: ")
		if rest, ok := strings.CutPrefix(message, "line "); ok { // the library writes "yaml: line 3: …"
			digits, text, _ := strings.Cut(rest, ": ")
			if n, err := strconv.Atoi(digits); err == nil {
				line, message = n, text
			}
		}
		hint := ""
		if strings.Contains(message, "mapping values are not allowed") {
			hint = "; put a value that has a colon and a space in quotes"
		}
		r.fault(line+r.line, RuleHead, "the head is not YAML: %s%s", excerpt(message, 200), hint)
		return nil
	}
	if len(doc.Content) == 0 || doc.Content[0].Kind != yaml.MappingNode {
		r.fault(1, RuleHead, "the head has no keys; it needs name and description")
		return nil
	}
	root := doc.Content[0]
	if err := plain(root, 0); err != nil {
		at, _ := errors.AsType[*headError](err)
		r.fault(at.line+r.line, at.rule, "%s", at.message)
		return nil
	}
	return root
}

// headError is an error at a line of the head, counted from 1.
type headError struct {
	line    int
	rule    Rule
	message string
}

func (e *headError) Error() string { return e.message }

// plain reports what of YAML a head may not use.
func plain(n *yaml.Node, depth int) error {
	switch {
	case n.Kind == yaml.AliasNode || n.Anchor != "":
		return &headError{n.Line, RuleHead, "anchors and aliases (&a, *a) are not allowed; write the value out"}
	case n.Style&yaml.TaggedStyle != 0:
		return &headError{n.Line, RuleHead, "YAML tags (!…) are not allowed; put a value that begins with ! in quotes"}
	case depth > maxDepth:
		return &headError{n.Line, RuleHead, fmt.Sprintf("the head is nested deeper than %d levels", maxDepth)}
	}
	seen := map[string]bool{}
	for i, child := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 {
			switch {
			case child.Kind != yaml.ScalarNode || child.Tag == "!!merge":
				return &headError{child.Line, RuleKey, "expected a plain key"}
			case seen[child.Value]:
				return &headError{child.Line, RuleKey, fmt.Sprintf("the key %s is given twice", quoted(child.Value))}
			}
			seen[child.Value] = true
		}
		if err := plain(child, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// field reads one key of the head.
func (r *reader) field(key, value *yaml.Node) {
	line := value.Line + r.line
	switch key.Value {
	case "name":
		name, ok := r.text(value, RuleName, "name", maxDescription)
		if !ok {
			return
		}
		if reason := validName(name); reason != "" {
			r.fault(line, RuleName, "%s is no name of a skill: %s", quoted(name), reason)
			return
		}
		r.skill.Name = name
	case "description":
		text, ok := r.text(value, RuleDescription, "description", maxDescription)
		if ok && text == "" {
			r.fault(line, RuleDescription, "description is empty; say what the skill does and when to use it")
		}
		r.skill.Description = text
	case "license":
		r.skill.License, _ = r.text(value, RuleLicense, "license", maxDescription)
	case "compatibility":
		r.skill.Compatibility, _ = r.text(value, RuleCompatibility, "compatibility", maxCompatibility)
	case "metadata":
		r.metadata(value)
	case "allowed-tools":
		r.allowedTools(value)
	default:
		near := ""
		switch key.Value {
		case "status", "category", "author", "forked-from", "tags":
			near = "; ktx reads it below metadata"
		case "allowed_tools", "allowedTools":
			near = "; did you mean allowed-tools?"
		}
		r.report(LevelWarning, key.Line+r.line, RuleKey, "%s is no key of the specification, which has %s%s", quoted(key.Value), strings.Join(headKeys, ", "), near)
	}
}

// text reads a single text of at most so many characters.
func (r *reader) text(value *yaml.Node, rule Rule, what string, most int) (string, bool) {
	line := value.Line + r.line
	switch {
	case value.Kind != yaml.ScalarNode:
		r.fault(line, rule, "%s is not a text", what)
		return "", false
	case value.Tag == "!!null":
		return "", true
	}
	text := strings.TrimSpace(value.Value)
	if n := utf8.RuneCountInString(text); n > most {
		r.fault(line, rule, "%s has %d characters; at most %d are allowed", what, n, most)
		return "", false
	}
	if c, _ := Hidden(text); c != 0 {
		r.fault(line, rule, "%s has the control character %U", what, c)
		return "", false
	}
	return text, true
}

// Hidden returns the first character of a text that could hide or rearrange what a reader
// sees, and its line. It returns 0 if there is none.
func Hidden(text string) (c rune, line int) {
	at := strings.IndexFunc(text, hidesText)
	if at < 0 {
		return 0, 0
	}
	c, _ = utf8.DecodeRuneInString(text[at:])
	return c, 1 + strings.Count(text[:at], "\n")
}

func hidesText(c rune) bool {
	switch {
	case c == '\n' || c == '\t' || c == '\r':
		return false
	case unicode.IsControl(c), c >= 0x202A && c <= 0x202E, c >= 0x2066 && c <= 0x2069, c == 0x2028, c == 0x2029, c == 0xFEFF, c >= 0xE0000 && c <= 0xE007F:
		return true
	}
	return false
}

func (r *reader) metadata(value *yaml.Node) {
	if value.Kind == yaml.ScalarNode && value.Tag == "!!null" {
		return
	}
	if value.Kind != yaml.MappingNode {
		r.fault(value.Line+r.line, RuleMetadata, "metadata is not a map of texts")
		return
	}
	for i := 0; i+1 < len(value.Content); i += 2 {
		key, item := value.Content[i], value.Content[i+1]
		line := item.Line + r.line
		if item.Kind != yaml.ScalarNode {
			r.fault(line, RuleMetadata, "metadata.%s is not a text; metadata is a map of texts", excerpt(key.Value, 40))
			continue
		}
		if !slices.Contains(metadataKeys, key.Value) {
			continue
		}
		text, ok := r.text(item, RuleMetadata, "metadata."+key.Value, maxItem)
		if !ok {
			continue
		}
		switch key.Value {
		case "status":
			switch text {
			case statusDraft:
				r.skill.draft = true
			case statusPublished, "":
			default:
				r.fault(line, RuleMetadata, "metadata.status is %s; write draft or published", quoted(text))
			}
		case "category":
			r.skill.Category = strings.Join(strings.Fields(text), " ")
		case "author":
			r.skill.Author = text
		case "forked-from":
			if reason := validName(text); text != "" && reason != "" {
				r.fault(line, RuleMetadata, "metadata.forked-from is %s, which is no name of a skill: %s", quoted(text), reason)
				continue
			}
			r.skill.ForkedFrom = text
		case "tags":
			for tag := range strings.SplitSeq(text, ",") {
				if tag = strings.Join(strings.Fields(tag), " "); tag != "" && !slices.Contains(r.skill.Tags, tag) && len(r.skill.Tags) < maxTags {
					r.skill.Tags = append(r.skill.Tags, tag)
				}
			}
		}
	}
}

// allowedTools reads a text with spaces or commas between the tools, or a list.
func (r *reader) allowedTools(value *yaml.Node) {
	var items []string
	switch value.Kind { //nolint:exhaustive // other kinds are a problem
	case yaml.ScalarNode:
		text, ok := r.text(value, RuleAllowedTools, "allowed-tools", 4*maxDescription)
		if !ok {
			return
		}
		items = divideTools(text)
	case yaml.SequenceNode:
		for _, n := range value.Content {
			text, ok := r.text(n, RuleAllowedTools, "an item of allowed-tools", maxDescription)
			if !ok {
				return
			}
			items = append(items, text)
		}
	default:
		r.fault(value.Line+r.line, RuleAllowedTools, "allowed-tools is not a text or a list")
	}
	for _, item := range items {
		if item != "" {
			r.skill.AllowedTools = append(r.skill.AllowedTools, item)
		}
	}
}

// divideTools divides a text at spaces and commas that are not in parentheses: "Read
// Bash(git add *)" has two tools.
func divideTools(text string) []string {
	depth := 0
	return strings.FieldsFunc(text, func(c rune) bool {
		switch c {
		case '(':
			depth++
		case ')':
			depth--
		case ' ', ',', '\n', '\t':
			return depth <= 0
		}
		return false
	})
}

// toJSON renders a head as JSON by the core schema of YAML 1.2: texts stay texts, so
// that a date and the word yes are what the author wrote.
func toJSON(n *yaml.Node) (json.RawMessage, error) {
	var b bytes.Buffer
	if err := appendJSON(&b, n); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func appendJSON(b *bytes.Buffer, n *yaml.Node) error {
	switch n.Kind { //nolint:exhaustive // plain has refused aliases
	case yaml.MappingNode:
		b.WriteByte('{')
		for i := 0; i+1 < len(n.Content); i += 2 {
			if i > 0 {
				b.WriteByte(',')
			}
			appendText(b, n.Content[i].Value)
			b.WriteByte(':')
			if err := appendJSON(b, n.Content[i+1]); err != nil {
				return err
			}
		}
		b.WriteByte('}')
	case yaml.SequenceNode:
		b.WriteByte('[')
		for i, item := range n.Content {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := appendJSON(b, item); err != nil {
				return err
			}
		}
		b.WriteByte(']')
	default:
		return appendScalar(b, n)
	}
	return nil
}

// The spellings of numbers in the core schema of YAML 1.2.
var (
	decimal = regexp.MustCompile(`^[-+]?[0-9]+$`)
	octal   = regexp.MustCompile(`^0o[0-7]+$`)
	hexa    = regexp.MustCompile(`^0x[0-9a-fA-F]+$`)
	float   = regexp.MustCompile(`^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$`)
)

func appendScalar(b *bytes.Buffer, n *yaml.Node) error {
	v := n.Value
	if n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		appendText(b, v)
		return nil
	}
	switch v {
	case "", "~", "null", "Null", "NULL":
		b.WriteString("null")
		return nil
	case "true", "True", "TRUE":
		b.WriteString("true")
		return nil
	case "false", "False", "FALSE":
		b.WriteString("false")
		return nil
	case ".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF", "-.inf", "-.Inf", "-.INF", ".nan", ".NaN", ".NAN":
		return &headError{n.Line, RuleHead, quoted(v) + " is a number that JSON does not have; put it in quotes"}
	}
	switch {
	case len(v) > 300:
		appendText(b, v)
	case decimal.MatchString(v):
		i, _ := new(big.Int).SetString(strings.TrimPrefix(v, "+"), 10)
		b.WriteString(i.String())
	case octal.MatchString(v):
		i, _ := new(big.Int).SetString(v[2:], 8)
		b.WriteString(i.String())
	case hexa.MatchString(v):
		i, _ := new(big.Int).SetString(v[2:], 16)
		b.WriteString(i.String())
	case float.MatchString(v):
		f, err := strconv.ParseFloat(v, 64)
		if err != nil || math.IsInf(f, 0) {
			return &headError{n.Line, RuleHead, quoted(v) + " is a number that JSON does not have; put it in quotes"}
		}
		number, err := json.Marshal(f)
		if err != nil {
			return &headError{n.Line, RuleHead, err.Error()}
		}
		b.Write(number)
	default:
		appendText(b, v)
	}
	return nil
}

func appendText(b *bytes.Buffer, text string) {
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // a string is always encoded
	b.Truncate(b.Len() - 1)
}

// excerpt returns the first n characters of a text on one line, with an ellipsis if
// more follow.
func excerpt(text string, n int) string {
	runes := []rune(text)
	if len(runes) > n {
		return string(runes[:n]) + "…"
	}
	return text
}

// quoted returns an excerpt of a foreign text in quotes, with control characters
// escaped.
func quoted(text string) string {
	q := strconv.Quote(excerpt(text, 80))
	if inner := q[1 : len(q)-1]; inner == text && !strings.ContainsAny(text, " \t") && text != "" {
		return text
	}
	return q
}
