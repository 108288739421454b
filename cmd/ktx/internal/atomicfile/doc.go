// Package atomicfile writes files whole or not at all: into a temporary file
// beside them, flushed, then put in place.
//
// Write replaces what is there, WriteNew never does, and Replace does so only
// where the file still is what its caller has read.
package atomicfile
