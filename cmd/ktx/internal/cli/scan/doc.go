// Package scan has the commands ktx scan and ktx ingest.
package scan
