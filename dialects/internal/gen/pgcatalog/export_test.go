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
