package wiki

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// The limits of a head.
const (
	maxHead    = 16 << 10 // bytes
	maxItems   = 100      // of a list
	maxItem    = 200      // bytes of an item of a list
	maxSummary = 1000     // bytes; a longer one is cut
)

// headKeys are the keys of a head. source, client and captures are written by ktx.
var headKeys = []string{
	"summary", "tags", "refs", "sl_refs", "usage_mode", "sort_order", "source", "client", "captures", "tables", "stale_since", "archived_since", "title",
}

// readHead reads the head of a page. Line 1 is the line of its fence.
func (p *Page) readHead(text string) {
	root, err := parseHead(text)
	if err != nil {
		p.problem(headLine(err)+1, LevelError, err.Error())
		return
	}
	if root == nil {
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(root.Content); i += 2 {
		key, value := root.Content[i], root.Content[i+1]
		if seen[key.Value] {
			p.problem(key.Line+1, LevelError, fmt.Sprintf("the key %s is given twice; the first counts", Excerpt(key.Value, 40)))
			continue
		}
		seen[key.Value] = true
		p.field(key, value)
	}
}

// parseHead reads the YAML of a head. It returns nil for an empty one. Aliases and
// tags of YAML are errors, because a head needs neither.
func parseHead(text string) (*yaml.Node, error) {
	if len(text) > maxHead {
		return nil, fmt.Errorf("the head has %d bytes; at most %d are read", len(text), maxHead)
	}
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		line, message := 1, strings.TrimPrefix(err.Error(), "yaml: ")
		if rest, ok := strings.CutPrefix(message, "line "); ok { // the library writes "yaml: line 3: …"
			digits, text, _ := strings.Cut(rest, ": ")
			if n, err := strconv.Atoi(digits); err == nil {
				line, message = n, text
			}
		}
		return nil, &headError{line, "the head is not YAML: " + message}
	}
	if len(doc.Content) == 0 {
		return nil, nil //nolint:nilnil // an empty head has no node
	}
	root := doc.Content[0]
	if root.Kind == yaml.ScalarNode && root.Tag == "!!null" {
		return nil, nil //nolint:nilnil // an empty head has no node
	}
	if root.Kind != yaml.MappingNode {
		return nil, &headError{root.Line, "the head is not a list of keys with values"}
	}
	if err := plain(root, 0); err != nil {
		return nil, err
	}
	return root, nil
}

// headError is an error at a line of the head, counted from 1.
type headError struct {
	line    int
	message string
}

func (e *headError) Error() string { return e.message }

// headLine returns the line of an error of [parseHead].
func headLine(err error) int {
	if e, ok := errors.AsType[*headError](err); ok {
		return e.line
	}
	return 1
}

// plain reports what of YAML a head may not use.
func plain(n *yaml.Node, depth int) error {
	switch {
	case n.Kind == yaml.AliasNode || n.Anchor != "":
		return &headError{n.Line, "aliases (&a, *a) are not supported; write the value out"}
	case n.Style&yaml.TaggedStyle != 0:
		return &headError{n.Line, "YAML tags (!…) are not supported; put a value that begins with ! in quotes"}
	case depth > 8:
		return &headError{n.Line, "the head is nested deeper than 8 levels"}
	}
	for i, child := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 && child.Kind != yaml.ScalarNode {
			return &headError{child.Line, "expected a plain key"}
		}
		if err := plain(child, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// field reads one key of the head.
func (p *Page) field(key, value *yaml.Node) {
	switch key.Value {
	case "summary":
		p.Summary = cut(collapse(p.scalar(key, value)), maxSummary)
	case "title":
		p.Title = cut(collapse(p.scalar(key, value)), maxSummary)
	case "tags":
		p.Tags = p.list(key, value)
	case "refs":
		p.Refs = p.list(key, value)
	case "sl_refs":
		p.SLRefs = p.list(key, value)
	case "tables":
		p.Tables = p.list(key, value)
	case "source":
		p.Source = p.scalar(key, value)
	case "client":
		p.Client = p.scalar(key, value)
	case "captures":
		p.captures(value)
	case "stale_since":
		p.StaleSince = p.date(key, value)
	case "archived_since":
		p.ArchivedSince = p.date(key, value)
	case "usage_mode":
		switch mode := UsageMode(p.scalar(key, value)); mode {
		case UsageAlways, UsageAuto, UsageNever:
			p.Usage = mode
		case "":
		default:
			p.problem(value.Line+1, LevelError, fmt.Sprintf("usage_mode %q is not always, auto or never; auto is used", Excerpt(string(mode), 40)))
		}
	case "sort_order":
		text := p.scalar(key, value)
		n, err := strconv.Atoi(text)
		if err != nil && text != "" {
			p.problem(value.Line+1, LevelError, fmt.Sprintf("sort_order %q is not an integer; 0 is used", Excerpt(text, 40)))
			n = 0
		}
		p.SortOrder = n
	default:
		if !slices.Contains(headKeys, key.Value) {
			near := ""
			if n := Nearest(key.Value, headKeys, 1); len(n) > 0 {
				near = "; did you mean " + n[0] + "?"
			}
			p.problem(key.Line+1, LevelWarning, fmt.Sprintf("ktx does not know the key %q%s", Excerpt(key.Value, 40), near))
		}
	}
}

// scalar returns a single value, or "" with a problem.
func (p *Page) scalar(key, value *yaml.Node) string {
	if value.Kind != yaml.ScalarNode {
		p.problem(value.Line+1, LevelError, key.Value+" is not a single value")
		return ""
	}
	if value.Tag == "!!null" {
		return ""
	}
	return strings.TrimSpace(value.Value)
}

// list returns a list of texts. A single value is a list of one, and commas divide
// it.
func (p *Page) list(key, value *yaml.Node) []string {
	var items []string
	switch value.Kind { //nolint:exhaustive // other kinds are a problem
	case yaml.ScalarNode:
		for item := range strings.SplitSeq(p.scalar(key, value), ",") {
			items = append(items, item)
		}
	case yaml.SequenceNode:
		for _, n := range value.Content {
			items = append(items, p.scalar(key, n))
		}
	default:
		p.problem(value.Line+1, LevelError, key.Value+" is not a list")
	}
	var out []string
	for _, item := range items {
		item = collapse(item)
		switch {
		case item == "" || slices.Contains(out, item):
		case len(item) > maxItem:
			p.problem(value.Line+1, LevelError, fmt.Sprintf("an item of %s has more than %d bytes; it is left out", key.Value, maxItem))
		case len(out) == maxItems:
			p.problem(value.Line+1, LevelError, fmt.Sprintf("%s has more than %d items; the others are left out", key.Value, maxItems))
			return out
		default:
			out = append(out, item)
		}
	}
	return out
}

// date returns a date. Any text counts, because a page that says that it is archived
// must not be offered only because its date is written wrongly. false counts as no
// date.
func (p *Page) date(key, value *yaml.Node) string {
	text := p.scalar(key, value)
	if text == "" || text == "false" {
		return ""
	}
	if !dated(text) {
		p.problem(value.Line+1, LevelWarning, fmt.Sprintf("%s %q is not a date such as 2026-01-31", key.Value, Excerpt(text, 40)))
	}
	return cut(collapse(text), maxItem)
}

// dated reports whether a text begins with YYYY-MM-DD.
func dated(text string) bool {
	if len(text) < 10 {
		return false
	}
	for i := range 10 {
		if dash := i == 4 || i == 7; dash != (text[i] == '-') || !dash && (text[i] < '0' || text[i] > '9') {
			return false
		}
	}
	return true
}

// collapse replaces runs of white space by one space, and trims.
func collapse(text string) string { return strings.Join(strings.Fields(text), " ") }

// cut returns the first n bytes of a text, or fewer so that no rune is divided.
func cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}
