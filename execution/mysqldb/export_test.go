package mysqldb

// Grant is the result of ParseGrant.
type Grant struct {
	Privileges       []string
	Object, Role, To string
	Passes           bool
}

// Idle returns how many connections wait to be used.
func (d *DB) Idle() int {
	_, idle := d.pool.Count()
	return idle
}

// ParseGrant reads a line of SHOW GRANTS.
func ParseGrant(line string) (Grant, bool) {
	g, ok := parseGrant(line)
	return Grant{g.privileges, g.object, g.role, g.to, g.passes}, ok
}

// DeedsOf returns what the privileges permit beyond reading.
func DeedsOf(privileges ...string) []string {
	var all []string
	for _, d := range deedsOf(privileges) {
		all = append(all, d.what)
	}
	return all
}

// Serves reports whether the object of a grant is in a database.
func Serves(object, database string) bool {
	p := prober{db: &DB{}, facts: make([]string, serverFacts)}
	p.facts[factDatabase] = database
	return p.serves(object)
}

// NearPosition finds the offset of a syntax error.
var NearPosition = nearPosition

// Number returns the digits of a version.
var Number = number

// Release returns a version as a number that can be compared.
var Release = release

// RelativeOf is relativeOf.
var RelativeOf = relativeOf
