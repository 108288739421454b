package sqlguard

// Catalog is what a backend knows of its server, as plain data. It is loaded
// with constant texts and handed to [New]; a guard never asks a server.
type Catalog struct {
	// Major is the server's major version; 0 when unknown.
	Major int `json:"major"`
	// SearchPath lists the schemas in which the session resolves unqualified
	// names, the server's own schemas left out.
	SearchPath []string `json:"searchPath"`
	// Database is the name of the connected database.
	Database string `json:"database"`
}
