package interchange

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/ktxhq/ktx/research/semantic/expr"
)

// reference is one of the calls that a filter of MetricFlow may hold.
type reference struct {
	call  string // Dimension, TimeDimension, Entity
	name  string
	grain string
}

var (
	template = regexp.MustCompile(`\{\{([^{}]*)\}\}`)
	call     = regexp.MustCompile(`^\s*(Dimension|TimeDimension|Entity)\(\s*(?:'([A-Za-z0-9_]+)'|"([A-Za-z0-9_]+)")\s*(?:,\s*(?:'([A-Za-z]+)'|"([A-Za-z]+)")\s*)?\)\s*$`)
)

// holder is how the names begin that stand for references while a filter is parsed.
const holder = "ktx_reference_"

// filterTree parses a filter of MetricFlow: a condition in SQL whose columns are calls in
// {{ }}. Resolve gives the tree of a call. Only the forms Dimension('entity__name'),
// TimeDimension('entity__name', 'grain') and Entity('name') are read.
func (im *importer) filterTree(text string, resolve func(reference) (*expr.Expr, string)) (*expr.Expr, string) {
	if strings.Contains(text, holder) || strings.Contains(text, "{%") || strings.Contains(text, "{#") {
		return nil, "its filter has Jinja other than calls in {{ }}"
	}
	var refs []reference
	why := ""
	sql := template.ReplaceAllStringFunc(text, func(match string) string {
		inner := template.FindStringSubmatch(match)[1]
		m := call.FindStringSubmatch(inner)
		if m == nil {
			why = fmt.Sprintf("its filter has {{%s}}; only Dimension('entity__name'), TimeDimension('entity__name', 'grain') and Entity('name') are read", shorten(inner))
			return ""
		}
		r := reference{m[1], m[2] + m[3], strings.ToLower(m[4] + m[5])}
		if (r.call == "TimeDimension") != (r.grain != "") {
			why = fmt.Sprintf("its filter has {{%s}}; TimeDimension takes a name and a grain, the others a name alone", shorten(inner))
		}
		refs = append(refs, r)
		return ` "` + holder + strconv.Itoa(len(refs)-1) + `" `
	})
	if why != "" {
		return nil, why
	}
	if strings.Contains(sql, "{{") || strings.Contains(sql, "}}") {
		return nil, "its filter has Jinja that ktx does not read"
	}
	tree, err := expr.Parse(sql)
	if err != nil {
		return nil, "its filter cannot be read: " + because(err)
	}
	if why := im.differs(tree); why != "" {
		return nil, why
	}
	aggregate := false
	expr.Walk(tree, func(e *expr.Expr) bool {
		aggregate = aggregate || e.Op == expr.OpAggregate
		return true
	})
	if aggregate {
		return nil, "its filter has an aggregate"
	}
	found := 0
	tree, why = rename(tree, func(n expr.Name) (*expr.Expr, string) {
		at, ok := strings.CutPrefix(n.Leaf, holder)
		i, bad := strconv.Atoi(at)
		if !ok || bad != nil || i >= len(refs) || n.Qualifier != "" {
			return nil, fmt.Sprintf("its filter names %s outside of {{ }}", shorten(n.String()))
		}
		found++
		return resolve(refs[i])
	})
	if why == "" && found != len(refs) {
		why = "its filter has a call in {{ }} inside of a string"
	}
	if why != "" {
		return nil, why
	}
	return tree, ""
}
