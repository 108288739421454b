package main

// Add adds a fact of a file, with its majors.
func (f *Facts) Add(file, fact, majors string) error {
	set, err := parseMajors(majors, f.newest)
	if err != nil {
		return err
	}
	f.files[file][fact] |= set
	return nil
}

// SetNewest pretends that a newer major was harvested.
func (f *Facts) SetNewest(major int) { f.newest = major }

// Lines returns the facts of a file with their majors as bits.
func (f *Facts) Lines(file string) map[string]uint16 {
	out := map[string]uint16{}
	for fact, majors := range f.files[file] {
		out[fact] = uint16(majors)
	}
	return out
}

// Newest returns the newest harvested major.
func (f *Facts) Newest() int { return f.newest }

// Call is one form of a function of the server.
type Call struct{ Name, Args string }

// AllowedCalls returns the plain functions that the review allows in a major and
// that SQL can call, in no order.
func AllowedCalls(f *Facts, major int) ([]Call, error) {
	j, err := judgeFunctions(f)
	if err != nil {
		return nil, err
	}
	var calls []Call
	for name, forms := range f.formsOf("pg_catalog") {
		if j.verdicts[name].class != classAllowed {
			continue
		}
		for _, form := range forms {
			if form.kind == "f" && form.callable() && form.majors.has(major) {
				calls = append(calls, Call{name, form.args})
			}
		}
	}
	return calls, nil
}
