package plan

import (
	"fmt"
	"unicode/utf8"

	"github.com/ktxhq/ktx/research/semantic/expr"
	"github.com/ktxhq/ktx/research/semantic/model"
)

// maxParts bounds each list of a request.
const maxParts = 200

// maxText bounds the texts of a request together, in bytes.
const maxText = 128 << 10

// builder gathers what the stages of Build find. A stage reads what the stages before it
// have left.
type builder struct {
	m    *model.Model
	r    Request
	plan *Plan

	atoms    []aggregate    // of plan.Atoms, at the same indexes
	keys     map[string]int // of plan.Atoms, by what makes an atom equal to another one
	rows     []condition    // the row filters
	rowKeys  map[string]bool
	segments []segment // of the request
	spent    int       // measures that were expanded, for the bound

	columnsMeant []string // notes about names in filters that are a column and a measure
	notAdded     []string // notes about members that are not added
	repair       bool     // a refusal may try other requests, to offer the one that works
}

// Build plans r over m. What cannot be answered without counting a row twice, and what is
// not clear, is refused with its class.
func Build(m *model.Model, r Request) (*Plan, *expr.Error) { return build(m, r, true) }

func build(m *model.Model, r Request, repair bool) (*Plan, *expr.Error) {
	b := &builder{m: m, r: r, plan: &Plan{Model: m, Limit: r.Limit}, keys: map[string]int{}, rowKeys: map[string]bool{}, repair: repair}
	stages := []func() *expr.Error{
		b.checkRequest,
		b.resolveDimensions,
		b.resolveSegments,
		b.resolveMeasures,
		b.resolveFilters,
		b.checkSegments,
		b.planLegs,
		b.nameOutputs,
		b.resolveOrder,
	}
	for _, stage := range stages {
		if err := stage(); err != nil {
			return nil, err
		}
	}
	b.writeNotes()
	return b.plan, nil
}

// checkRequest refuses requests that ask for nothing or for too much (R18).
func (b *builder) checkRequest() *expr.Error {
	r := b.r
	if len(r.Measures) == 0 && len(r.Dimensions) == 0 {
		return refuse(expr.InvalidRequest, "give at least one measure or dimension", "the request has no measures and no dimensions")
	}
	if r.Limit < -1 {
		return refuse(expr.InvalidRequest, "give a limit of 0 or more", "the limit %d is negative", r.Limit)
	}
	lists := []struct {
		name string
		size int
	}{
		{"measures", len(r.Measures)},
		{"dimensions", len(r.Dimensions)},
		{"filters", len(r.Filters)},
		{"segments", len(r.Segments)},
		{"order_by", len(r.OrderBy)},
	}
	for _, l := range lists {
		if l.size > maxParts {
			return refuse(expr.InvalidRequest, "ask for less at once", "%s has %d entries; at most %d are read", l.name, l.size, maxParts)
		}
	}
	if size := r.size(); size > maxText {
		return refuse(expr.InvalidRequest, "ask for less at once", "the texts of the request have %d bytes together; at most %d are read", size, maxText)
	}
	return nil
}

// size is the length of all texts of the request, in bytes.
func (r Request) size() int {
	n := 0
	for _, m := range r.Measures {
		n += len(m.Expr) + len(m.Name)
	}
	for _, d := range r.Dimensions {
		n += len(d.Field) + len(d.Granularity)
	}
	for _, list := range [][]string{r.Filters, r.Segments} {
		for _, s := range list {
			n += len(s)
		}
	}
	for _, o := range r.OrderBy {
		n += len(o.Field)
	}
	return n
}

// refuse makes an error without a position.
func refuse(class expr.Class, hint, format string, args ...any) *expr.Error {
	return &expr.Error{Class: class, Message: fmt.Sprintf(format, args...), Hint: hint, Pos: -1}
}

// within says in which part of the request err is.
func within(err *expr.Error, part, text string) *expr.Error {
	if err == nil {
		return nil
	}
	e := *err
	e.Message = fmt.Sprintf("%s %q: %s", part, clip(text, 120), err.Message)
	return &e
}

// clip shortens s to about n bytes.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}
