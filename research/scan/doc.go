// Package scan reads the structure and the values of a database, and leaves what it
// found in the project as artifacts, for search, the dictionary and the semantic
// layer.
//
//	result, err := scan.Run(ctx, scan.Options{Connection: info, Gateway: gateway, Root: root, …})
//
// A scan has four stages. It reads the server's own catalogue, reads a bounded sample
// of each table (the profile), looks for relationships between tables, and writes the
// artifacts. The report is written last: readers take a scan without a report as one
// that does not exist.
//
// A scan that ends early keeps what it has in .ktx/scan/<connection>. The next scan
// with the same options reads the catalogue again, and goes on with the tables that
// are not profiled yet or that have changed since.
//
// All statements go through the gateway, one at a time unless [Options.Concurrency]
// says otherwise. The package knows no driver. It holds no clock and no random number:
// equal databases, options, times and run ids give equal bytes, except where the
// server itself picks other rows for a sample.
//
// # What is scanned
//
// Tables, views, materialized views (as views), foreign tables (as external) and
// partitioned tables. A partition is a part of its parent and is not listed. System
// schemas and relations of extensions are left out. Tables that access rules deny are
// not scanned, and denied columns are not profiled. Tables that the role may not read
// are left out with a warning.
//
// # The profile
//
// The profile of a table comes from at most [Options.SampleRows] rows. If the table
// has more rows, the sample is taken across the table: by TABLESAMPLE (PostgreSQL, SQL
// Server), by ranges of an integer key (MySQL, MariaDB, SQLite), or by RAND (MySQL,
// MariaDB). A view, a foreign table, and a SQLite table without row ids are read from
// their first rows.
//
// RowCount, NullCount and DistinctCount of a column describe the sample. The row
// count of a table is that of all rows, or the server's estimate if counting takes
// too long.
//
// Text columns get a value profile: their distinct values, most frequent first, and
// the number of distinct values. Columns whose names say that they hold personal data
// or free text are left out, and so are columns with long texts. Their rows are
// counted, but no value of them is kept. The scan's configuration can include such a
// column by name, or exclude others.
package scan
