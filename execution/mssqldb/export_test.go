package mssqldb

import "time"

// Weakness returns what the URL leaves open of transport security.
func (d *DB) Weakness() string { return d.target.weak }

// Opening is the batch that stands before a statement.
func Opening(lock time.Duration, rows int) string { return opening(lock, rows) }

// The batches that stand behind a statement, and the question of the catalogue.
const (
	ClosingSQL = closingSQL
	ResetSQL   = resetSQL
	CatalogSQL = catalogSQL
)

// Questions are the texts of the package's own that are one SELECT.
var Questions = []string{
	identitySQL, rolesSQL, serverRightsSQL, serverGrantsSQL, databaseRightsSQL, grantsSQL, ownedSQL, elsewhereSQL, surfaceSQL, trustSQL, linkedSQL, schemasSQL, clockSQL,
	catalogSQL, resetSQL, "SELECT 0 AS before, " + stateSQL,
}
