package sqlite

// PragmaListed reports whether a PRAGMA may be read.
func PragmaListed(name string) bool {
	_, ok := pragmas[lower(name)]
	return ok
}

// PragmaSets reports whether a listed PRAGMA would set something if it were
// given a value.
func PragmaSets(name string) bool { return pragmas[lower(name)] == argNone }
