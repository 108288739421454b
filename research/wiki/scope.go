package wiki

import "path"

// Scope says whose page it is.
type Scope string

// The scopes.
const (
	Global Scope = "GLOBAL" // of the project, in wiki/global
	User   Scope = "USER"   // of one user, in wiki/user/<user>
)

const (
	globalDir = "wiki/global"
	userDir   = "wiki/user"
	extension = ".md"
)

// dir returns the folder of a scope, relative to the project.
func (s *Store) dir(scope Scope) string {
	if scope == User {
		return path.Join(userDir, s.user)
	}
	return globalDir
}

// Path returns the file of a page, relative to the project, with slashes. The key
// must be valid.
func (s *Store) Path(scope Scope, key string) string {
	return path.Join(s.dir(scope), key+extension)
}

// scopes are the scopes in the order in which a key is looked up.
var scopes = []Scope{User, Global}
