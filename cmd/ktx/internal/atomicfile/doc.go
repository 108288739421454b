// Package atomicfile writes files whole or not at all. It writes a temporary file in
// the same folder, flushes it, and then puts it in place.
//
// [Write] replaces an existing file, [WriteNew] never does, and [Replace] does so
// only if the file still has the content that the caller has read.
package atomicfile
