// Package project finds a project directory and reads its ktx.yaml.
//
//	dir, err := project.Find(flag, os.LookupEnv)
//	p, err := project.Load(dir, doublestar.ValidatePattern) // *InvalidError lists every fault with its path and line
//
// The shape of the file is the Go type [Config]: one walk over it decodes and
// validates, another makes the JSON Schema that editors use. The package never
// writes a user's ktx.yaml, and never prints a secret.
package project
