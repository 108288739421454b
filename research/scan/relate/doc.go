// Package relate finds which columns of a scanned database refer to which keys,
// also where the database declares no foreign key.
//
// [Find] takes the tables of a scan, proposes relationships from their names, and
// asks a [Prober] for bounded counts that confirm or refute each proposal. Without
// a Prober it decides by names, which is less certain. Declared keys are always
// accepted and never probed.
//
// The package runs no SQL and reads no files. Equal input and equal counts give
// equal output.
package relate
