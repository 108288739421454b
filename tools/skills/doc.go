// Package skills tests the store of skills in PostgreSQL. scripts/test-skills brings a
// server with pgvector from npm.
package skills
