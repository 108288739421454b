// Package project finds a project directory and reads its ktx.yaml.
//
//	dir, err := project.Find(flag, os.LookupEnv)
//	p, err := project.Load(dir, doublestar.ValidatePattern) // *InvalidError lists every error with its path and line
//
// The Go type [Config] defines the file. The package decodes and validates the file
// by that type, and makes the JSON Schema for editors from it. It never writes a
// ktx.yaml, and never prints a secret.
package project
