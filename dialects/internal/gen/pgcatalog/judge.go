package main

import (
	"fmt"
	"slices"
	"strings"
)

// The classes of a function, named as in package postgres.
const (
	classDenied  = "functionDenied"
	classAllowed = "functionAllowed"
	classChecked = "functionChecked"
)

// verdict is what the table will say of one name.
type verdict struct {
	name        string
	class       string
	reason      string // id of a denial; empty when allowed
	check       string // empty unless checked
	extension   string // empty for what the server ships
	majors      majorSet
	oneArgument bool
	syntax      bool // the grammar writes calls of it
	opens       bool // reads the file that a value of the extension can name
}

// form is one overload of a function, as harvested.
type form struct {
	kind, args, result, flags string
	majors                    majorSet
}

// callable says whether SQL can call the form: no argument or result has a
// type that SQL cannot produce.
func (f form) callable() bool {
	for t := range strings.SplitSeq(f.args+","+f.result, ",") {
		if t == "internal" || t == "trigger" || t == "event_trigger" || strings.HasSuffix(t, "_handler") {
			return false
		}
	}
	return true
}

// takesOne says whether the form can be called with exactly one argument.
func (f form) takesOne() bool {
	if f.args == "" || !f.callable() {
		return false
	}
	least := strings.Count(f.args, ",") + 1
	if _, after, ok := strings.Cut(f.flags, "r"); ok && after != "" && after[0] >= '0' && after[0] <= '9' {
		least = int(after[0] - '0')
	}
	return least <= 1
}

func (f form) volatile() bool { return strings.HasPrefix(f.flags, "v") }

// privileged says that PUBLIC may not execute the form, or that it runs with
// its owner's rights.
func (f form) privileged() bool {
	marks, _, _ := strings.Cut(f.flags, " ")
	return strings.ContainsAny(marks, "XD")
}

// formsOf groups the harvested functions by origin and name.
func (f *Facts) formsOf(origin string) map[string][]form {
	out := map[string][]form{}
	f.each("functions.tsv", func(x []string, majors majorSet) {
		if x[0] == origin {
			out[x[1]] = append(out[x[1]], form{x[2], x[3], x[4], x[5], majors})
		}
	})
	return out
}

// judgement collects verdicts and what is wrong with the review.
type judgement struct {
	verdicts map[string]verdict
	reasons  map[string]denial
	problems []string
	// qualified lists what is refused in one schema only, by "schema.name" or
	// "schema.prefix*", with the id of its reason.
	qualified map[string]string
	// unlisted are harmless functions that stay off the table. Operators may
	// rest on them.
	unlisted map[string]bool
	// informationSchema lists the helpers of information_schema, sorted.
	informationSchema []string
}

func (j *judgement) problem(format string, args ...any) {
	j.problems = append(j.problems, fmt.Sprintf(format, args...))
}

// add records a verdict. A name that several origins have is allowed only if
// all of them allow it; the server's own verdict is recorded first and keeps
// its majors.
func (j *judgement) add(v verdict) {
	old, ok := j.verdicts[v.name]
	if !ok {
		j.verdicts[v.name] = v
		return
	}
	if old.class != v.class || old.reason != v.reason {
		j.problem("%s is %s in %q and %s in %q", v.name, old.class, old.extension, v.class, v.extension)
	}
	old.oneArgument = old.oneArgument || v.oneArgument
	j.verdicts[v.name] = old
}

func (j *judgement) reason(d denial) {
	if old, ok := j.reasons[d.id]; ok && (old.code != d.code || old.reason != d.reason) {
		j.problem("reason %s has two meanings", d.id)
	}
	j.reasons[d.id] = d
}

// judgeFunctions applies the review to the facts.
func judgeFunctions(f *Facts) (*judgement, error) {
	j := &judgement{verdicts: map[string]verdict{}, reasons: map[string]denial{}, qualified: map[string]string{}, unlisted: map[string]bool{}}
	if f.newest > reviewedThrough {
		j.problem("the facts hold major %d, the review covers %d", f.newest, reviewedThrough)
	}
	j.builtins(f)
	j.informationSchemaHelpers(f)
	for _, e := range harvestedExtensions {
		j.extension(e, f.formsOf("ext:"+e.name))
	}
	f.each("functions.tsv", func(x []string, _ majorSet) {
		name, isExtension := strings.CutPrefix(x[0], "ext:")
		if isExtension && !slices.ContainsFunc(harvestedExtensions, func(e extension) bool { return e.name == name }) {
			j.problem("extension %s is not reviewed", name)
		}
	})
	j.manual()
	if len(j.problems) > 0 {
		slices.Sort(j.problems)
		return nil, fmt.Errorf("the review does not fit the facts:\n%s", strings.Join(slices.Compact(j.problems), "\n"))
	}
	return j, nil
}

// internalDenial is the reason of names that SQL cannot call.
var internalDenial = denial{id: "internalOnly", code: "CodeFunctionNotAllowed", reason: "is internal to the server and cannot be called in SQL"}

func (j *judgement) builtins(f *Facts) {
	denied, checks := map[string]denial{}, map[string]checked{}
	allowed := map[string]bool{}
	list := func(names string, put func(name string)) {
		for name := range strings.FieldsSeq(names) {
			_, isDenied := denied[name]
			if _, isChecked := checks[name]; isDenied || isChecked || allowed[name] {
				j.problem("%s is listed twice", name)
			}
			put(name)
		}
	}
	for _, d := range deniedFunctions {
		j.reason(d)
		list(d.names, func(name string) { denied[name] = d })
	}
	for _, c := range checkedFunctions {
		j.reason(denial{id: c.check, code: c.code, reason: c.reason})
		list(c.name, func(name string) { checks[name] = c })
	}
	list(allowedVolatile, func(name string) { allowed[name] = true })
	list(allowedServerState, func(name string) { allowed[name] = true })
	for _, names := range allowedReserved {
		list(names, func(name string) { allowed[name] = true })
	}
	j.reason(internalDenial)

	forms := f.formsOf("pg_catalog")
	for name, all := range forms {
		v := verdict{name: name, class: classAllowed}
		needsLine := reserved(name)
		for _, form := range all {
			if !form.callable() {
				continue
			}
			v.majors |= form.majors
			v.oneArgument = v.oneArgument || form.takesOne()
			needsLine = needsLine || form.volatile() || form.privileged()
		}
		d, isDenied := denied[name]
		c, isChecked := checks[name]
		switch {
		case isDenied:
			v.class, v.reason = classDenied, d.id
		case v.majors == 0: // no form can be called
			v.class, v.reason = classDenied, internalDenial.id
			for _, form := range all {
				v.majors |= form.majors
			}
		case isChecked:
			v.class, v.reason, v.check = classChecked, c.check, c.check
		case needsLine && !allowed[name]:
			j.problem("%s is volatile, privileged or reserved, and not reviewed", name)
		}
		if v.class == classAllowed {
			v.oneArgument = false
			v.syntax = slices.Contains(strings.Fields(syntaxFunctions), name)
		}
		j.add(v)
	}
	for name := range strings.FieldsSeq(syntaxFunctions) {
		if !j.verdicts[name].syntax {
			j.problem("%s is written by the grammar and not allowed", name)
		}
	}
	for name := range denied {
		if forms[name] == nil {
			j.problem("%s is denied but no server has it", name)
		}
	}
	for name := range allowed {
		if forms[name] == nil {
			j.problem("%s is allowed but no server has it", name)
		}
	}
	for name := range checks {
		if forms[name] == nil {
			j.problem("%s is checked but no server has it", name)
		}
	}
}

// informationSchemaHelpers allows the functions of information_schema that the
// review names: they compute facts of types and indexes from their arguments.
func (j *judgement) informationSchemaHelpers(f *Facts) {
	allowed := strings.Fields(allowedInformationSchema)
	forms := f.formsOf("information_schema")
	for name, all := range forms {
		if !slices.Contains(allowed, name) || slices.ContainsFunc(all, form.volatile) {
			j.problem("information_schema.%s is volatile or not reviewed", name)
		}
	}
	for _, name := range allowed {
		if forms[name] == nil {
			j.problem("information_schema.%s is allowed but no server has it", name)
		}
	}
	j.informationSchema = slices.Sorted(slices.Values(allowed))
}

func reserved(name string) bool {
	return strings.HasPrefix(name, "pg_") || strings.HasPrefix(name, "lo_") || strings.HasPrefix(name, "binary_upgrade_")
}

func (j *judgement) extension(e extension, forms map[string][]form) {
	seen := map[string]bool{}
	put := func(name string, v verdict) {
		if seen[name] {
			j.problem("%s is listed twice in %s", name, e.name)
		}
		seen[name] = true
		if forms[name] == nil {
			j.problem("%s is listed but %s does not have it", name, e.name)
		}
		v.name, v.extension = name, e.name
		for _, form := range forms[name] {
			v.majors |= form.majors
			v.oneArgument = v.oneArgument || form.takesOne()
			if v.class == classAllowed && form.privileged() {
				j.problem("%s of %s is privileged and allowed", name, e.name)
			}
		}
		if v.class == classAllowed {
			v.oneArgument = false
		}
		j.add(v)
	}
	for _, d := range e.denied {
		j.reason(d)
		for name := range strings.FieldsSeq(d.names) {
			put(name, verdict{class: classDenied, reason: d.id})
		}
	}
	unlisted := strings.Fields(e.unlisted)
	for _, name := range unlisted {
		j.unlisted[name] = true
		if forms[name] == nil || seen[name] {
			j.problem("%s is left off the list but %s does not have it, or it is denied", name, e.name)
		}
	}
	if e.allowed == "*" {
		for name := range forms {
			if !seen[name] && !slices.Contains(unlisted, name) {
				put(name, verdict{class: classAllowed})
			}
		}
	} else {
		for name := range strings.FieldsSeq(e.allowed) {
			put(name, verdict{class: classAllowed})
		}
	}
	for name := range forms {
		if seen[name] {
			continue
		}
		if !e.rest && !slices.Contains(unlisted, name) {
			j.problem("%s of %s is not reviewed", name, e.name)
		}
		if old, ok := j.verdicts[name]; ok && old.class != classDenied {
			j.problem("%s of %s is left off the list but allowed in %q", name, e.name, old.extension)
		}
	}
}

// manual adds the verdicts on names that the facts do not have.
func (j *judgement) manual() {
	deny := func(extension string, d denial) {
		j.reason(d)
		for name := range strings.FieldsSeq(d.names) {
			if strings.Contains(name, ".") {
				if j.qualified[name] != "" {
					j.problem("%s is listed twice", name)
				}
				j.qualified[name] = d.id
				continue
			}
			if _, ok := j.verdicts[name]; ok {
				j.problem("%s is listed twice", name)
			}
			j.add(verdict{name: name, class: classDenied, reason: d.id, extension: extension, oneArgument: true})
		}
	}
	for _, e := range manualExtensions {
		for name := range strings.FieldsSeq(e.allowed) {
			if old, ok := j.verdicts[name]; ok && old.extension == e.name {
				j.problem("%s is listed twice in %s", name, e.name)
			}
			j.add(verdict{name: name, class: classAllowed, extension: e.name})
		}
		for name := range strings.FieldsSeq(e.opens) {
			if _, ok := j.verdicts[name]; ok {
				j.problem("%s is listed twice", name)
			}
			j.add(verdict{name: name, class: classAllowed, extension: e.name, opens: true})
		}
		for _, d := range e.denied {
			deny(e.name, d)
		}
	}
	for _, c := range manualChecked {
		j.reason(denial{id: c.check, code: c.code, reason: c.reason})
		for name := range strings.FieldsSeq(c.name) {
			if _, ok := j.verdicts[name]; ok {
				j.problem("%s is listed twice", name)
			}
			j.add(verdict{name: name, class: classChecked, reason: c.check, check: c.check, extension: c.extension, opens: c.check == "checkBand"})
		}
	}
	for _, d := range manualDenials {
		deny("other", d)
	}
}
