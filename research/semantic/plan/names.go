package plan

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ktxhq/ktx/research/semantic/expr"
)

// maxName is the longest name of an output, in characters.
const maxName = 64

// naming is what an output may be called.
type naming struct {
	short     string // the leaf, or what the request says
	qualified string // with the source in front; empty if the name is fixed
	what      string // for messages
	chosen    *string
}

// nameOutputs is R11: names are short where no two of them are equal, without regard to
// case, and have their source in front otherwise.
func (b *builder) nameOutputs() *expr.Error {
	names := b.namings()
	count := map[string]int{}
	for _, n := range names {
		count[strings.ToLower(n.short)]++
	}
	taken := map[string]string{}
	for _, n := range names {
		name := n.short
		if n.qualified != "" && count[strings.ToLower(n.short)] > 1 {
			name = n.qualified
		}
		if err := checkName(name); err != nil {
			return within(err, n.what, name)
		}
		if other, ok := taken[strings.ToLower(name)]; ok {
			return refuse(expr.InvalidRequest, "ask for each once, or give one of the measures another name", "two outputs would be called %s: %s and %s", name, other, n.what)
		}
		taken[strings.ToLower(name)] = n.what
		*n.chosen = name
	}
	return nil
}

func (b *builder) namings() []naming {
	var names []naming
	for i := range b.plan.Dimensions {
		d := &b.plan.Dimensions[i]
		node := b.m.Nodes[d.Field.Node]
		leaf := outputText(b.m.Sources[node.Source].Columns[d.Field.Column].Name)
		if d.Grain != NoGrain {
			leaf += "_" + d.Grain.String()
		}
		names = append(names, naming{short: leaf, qualified: outputText(node.Name) + "_" + leaf, what: "the dimension " + fieldName(b.m, d.Field), chosen: &d.Name})
	}
	for i := range b.plan.Measures {
		asked := b.r.Measures[i]
		n := naming{short: asked.Name, what: "the measure " + clip(asked.Expr, 120), chosen: &b.plan.Measures[i].Name}
		if asked.Name == "" {
			if m, ok := b.measureAlone(i); ok {
				node := b.m.Nodes[m.Node]
				n.short = outputText(b.m.Sources[node.Source].Measures[m.Index].Name)
				n.qualified = outputText(node.Name) + "_" + n.short
			} else {
				n.short = strings.Trim(replaceRuns(strings.ToLower(asked.Expr), nameRune), "_")
			}
		}
		names = append(names, n)
	}
	return names
}

// measureAlone returns the measure of the model that an output is, if it is nothing else.
func (b *builder) measureAlone(output int) (expr.Measure, bool) {
	if _, err := expr.ParseName(b.r.Measures[output].Expr); err != nil || len(b.plan.Measures[output].From) != 1 {
		return expr.Measure{}, false
	}
	return b.plan.Measures[output].From[0], true
}

// outputText is a name of the model as an output may have it.
func outputText(s string) string {
	return replaceRuns(strings.TrimSpace(s), func(r rune) bool { return r == ' ' || nameRune(r) })
}

// replaceRuns replaces runs of characters that are not kept by one underscore.
func replaceRuns(s string, keep func(rune) bool) string {
	var out strings.Builder
	replaced := false
	for _, r := range s {
		switch {
		case keep(r):
			out.WriteRune(r)
			replaced = false
		case !replaced:
			out.WriteByte('_')
			replaced = true
		}
	}
	return out.String()
}

// nameRune reports whether names of outputs have r anywhere. A mark is part of a letter
// in many scripts.
func nameRune(r rune) bool {
	return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}

// checkName is the last rule of R18.
func checkName(name string) *expr.Error {
	valid := name != "" && utf8.ValidString(name) && !strings.HasPrefix(name, " ") && !strings.HasSuffix(name, " ")
	for _, r := range name {
		valid = valid && (nameRune(r) || r == ' ')
	}
	switch {
	case !valid:
		return refuse(expr.InvalidRequest, "use letters, digits, _, and spaces between them", "%q cannot be the name of an output", clip(name, 80))
	case utf8.RuneCountInString(name) > maxName:
		return refuse(expr.InvalidRequest, "give the measure a name: {expr, name}", "the name of the output has %d characters; at most %d are allowed", utf8.RuneCountInString(name), maxName)
	}
	return nil
}
