package mssqldb

import "time"

// Weakness returns what the URL leaves unprotected in transport security.
func (d *DB) Weakness() string { return d.target.weak }

// Opening is the batch that is sent before a statement.
func Opening(lock time.Duration, rows int) string { return opening(lock, rows) }

// The batches that are sent after a statement, and the query for the catalogue.
const (
	ClosingSQL = closingSQL
	ResetSQL   = resetSQL
	CatalogSQL = catalogSQL
)

// Questions are the package's own batches that consist of one SELECT.
var Questions = []string{
	identitySQL, rolesSQL, serverRightsSQL, serverGrantsSQL, databaseRightsSQL, grantsSQL, ownedSQL, elsewhereSQL, surfaceSQL, trustSQL, linkedSQL, schemasSQL, clockSQL,
	catalogSQL, resetSQL, "SELECT 0 AS before, " + stateSQL,
}
