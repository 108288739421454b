package bigquerydb

import (
	"github.com/ktxhq/ktx/execution/bigquerydb/wire"
	"github.com/ktxhq/ktx/execution/internal/rowset"
)

// The statements of the probe.

// identitySQL asks who runs the statement, and for the time.
const identitySQL = "SELECT SESSION_USER() AS principal, UNIX_SECONDS(CURRENT_TIMESTAMP()) AS now"

// tryTableSQL and tryDatasetSQL are the writes that the probe tries, as dry runs, which make
// nothing. Their names are new.
func tryTableSQL(d wire.Dataset) string {
	return "CREATE TABLE " + rowset.Backquoted(d.Project) + "." + rowset.Backquoted(d.Dataset) + "." + rowset.Backquoted(newID()) + " (a INT64)"
}

func tryDatasetSQL(project string) string {
	return "CREATE SCHEMA " + rowset.Backquoted(project) + "." + rowset.Backquoted(newID())
}

// writes are the permissions on a table beyond reading it. Reference: BigQuery IAM roles
// and permissions.
var writes = []string{
	"bigquery.tables.updateData", "bigquery.tables.update", "bigquery.tables.delete", "bigquery.tables.setIamPolicy", "bigquery.tables.createSnapshot",
}
