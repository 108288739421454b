package project

import (
	"cmp"

	"github.com/ktxhq/ktx/execution/audit"
)

// Config is ktx.yaml. Every block is optional.
type Config struct {
	Connections map[string]Connection `yaml:"connections" doc:"The databases, by id."`
	Guard       Guard                 `yaml:"guard" doc:"What the guard permits on every connection."`
	Server      Server                `yaml:"server" doc:"How ktx mcp start serves."`
	Audit       audit.Config          `yaml:"audit" doc:"The audit log."`
	Check       Check                 `yaml:"check" doc:"How ktx sql check reads files."`
	Search      Search                `yaml:"search" doc:"How tables, columns and pages are found."`
	User        string                `yaml:"user" doc:"The owner of the pages in wiki/user/NAME; default local."`
	Scan        Scan                  `yaml:"scan" doc:"How ktx scan reads databases."`
	Upstreams   Upstreams             `yaml:"upstreams" doc:"Other MCP servers, whose tools agents find and call through ktx."`
	Skills      *Skills               `yaml:"skills" doc:"The skill catalogue; skills: {} turns it on, with the folder skills of the project."`
	Embeddings  Embeddings            `yaml:"embeddings" doc:"How texts get vectors, for the search of skills."`
	Env         string                `yaml:"env" doc:"A file of lines NAME=value, relative to the project, for env:NAME; variables of the environment override it."`
}

// Search says how tables, columns and pages are found.
type Search struct {
	Abbreviations map[string]string `yaml:"abbreviations" doc:"Abbreviations in names, each with the word that it stands for, such as cust: customer. They are added to the built-in ones."`
	Usage         bool              `yaml:"usage" doc:"Use the counts of ktx usage build for the order of equal results, in entity_details and in scans; default false."`
}

// defaultUser owns the pages of a user if ktx.yaml names none.
const defaultUser = "local"

// WikiUser returns the owner of the pages in wiki/user.
func (c *Config) WikiUser() string { return cmp.Or(c.User, defaultUser) }

// Connection is one database.
type Connection struct {
	Driver         string    `yaml:"driver" doc:"The engine: postgres, mysql, mariadb, sqlserver, clickhouse, bigquery, sqlite or duckdb. Connections of other engines are listed, but run no statements."`
	URL            Secret    `yaml:"url" doc:"The address: env:NAME, file:/path, or the URL itself. That of BigQuery is bigquery://project/dataset with the parameters credentials (a file with the key of a service account or with workload identity federation from a file or URL, instead of the application default credentials), impersonate (a service account), location and endpoint."`
	Host           string    `yaml:"host" doc:"Host, instead of url."`
	Port           int       `yaml:"port" doc:"Port, with host." min:"1" max:"65535"`
	Database       string    `yaml:"database" doc:"Database, with host."`
	User           string    `yaml:"user" doc:"Role, with host."`
	Password       Secret    `yaml:"password" doc:"Password, with host: env:NAME or file:/path."`
	TLS            string    `yaml:"tls" doc:"verify (default) checks the server's certificate; off sends everything in clear text." enum:"verify,off"`
	Path           string    `yaml:"path" doc:"Database file of SQLite or DuckDB, relative to the project."`
	Files          string    `yaml:"files" doc:"DuckDB: a folder of CSV, JSON, Parquet and DuckDB files, relative to the project, instead of path. Each file is a table."`
	Name           string    `yaml:"name" doc:"Name shown to people."`
	Description    string    `yaml:"description" doc:"What the database contains."`
	Schemas        []string  `yaml:"schemas" doc:"PostgreSQL: the schemas in which unqualified names are resolved, and which are scanned; pins the search path. MySQL, MariaDB, SQL Server, ClickHouse: the databases that may be read beside the connection's own. BigQuery: the same for projects."`
	MaxConnections int       `yaml:"maxConnections" doc:"Maximum number of connections to the server." min:"1" max:"1000"`
	Limits         Limits    `yaml:"limits" doc:"Limits of one call."`
	Access         Access    `yaml:"access" doc:"Which schemas, tables, columns and files may be read."`
	Functions      Functions `yaml:"functions" doc:"Your own functions that statements may call, and functions that they may not call."`
	Guard          Guard     `yaml:"guard" doc:"Overrides the guard block for this connection."`
}

// Limits bound one statement and its result.
type Limits struct {
	Rows        int      `yaml:"rows" doc:"Maximum number of rows; default 10000." min:"1" max:"10000000"`
	Bytes       Bytes    `yaml:"bytes" doc:"Maximum size of all values together; default 8MiB."`
	CellBytes   Bytes    `yaml:"cellBytes" doc:"Maximum size of one value; default 256KiB."`
	Columns     int      `yaml:"columns" doc:"Maximum number of columns; default 1000." min:"1" max:"10000"`
	Timeout     Duration `yaml:"timeout" doc:"Maximum time of a statement; default 30s."`
	LockTimeout Duration `yaml:"lockTimeout" doc:"Maximum time to wait for a lock; default 1s."`
	Temp        Bytes    `yaml:"temp" doc:"SQLite: maximum size of the temporary files of a statement; default 256MiB."`
	ScanBytes   Bytes    `yaml:"scanBytes" doc:"BigQuery: maximum number of bytes that a statement reads; default 10GiB."`
	Concurrency int      `yaml:"concurrency" doc:"Maximum number of statements that run at once; default 8." min:"1" max:"1000"`
}

// Access says what may be read. Deny overrides allow.
type Access struct {
	Schemas Names        `yaml:"schemas" doc:"Schemas by name."`
	Tables  Names        `yaml:"tables" doc:"Tables as schema.table."`
	Columns []ColumnRule `yaml:"columns" doc:"Columns that may not be read."`
	Files   Names        `yaml:"files" doc:"DuckDB: the files of the folder, by patterns below it; ** matches any number of folders. A pattern for a folder is one for all that it has."`
}

// Names has a list of allowed names and a list of denied names.
type Names struct {
	Allow []string `yaml:"allow" doc:"Allowed names; empty allows all."`
	Deny  []string `yaml:"deny" doc:"Denied names."`
}

// ColumnRule denies one column.
type ColumnRule struct {
	Match  string `yaml:"match" doc:"The column as schema.table.column."`
	Action string `yaml:"action" doc:"What happens when a statement reads it." enum:"deny"`
}

// Functions names functions as schema.name or schema.prefix*.
type Functions struct {
	Allow []AllowedFunction `yaml:"allow" doc:"Your own functions that you know to be pure."`
	Deny  []string          `yaml:"deny" doc:"Functions that statements may not call."`
}

// AllowedFunction is one entry of a list of functions: a name, or a function that its
// operator vouches for.
type AllowedFunction struct {
	Function string `yaml:"function" doc:"The function as schema.name, schema.prefix* or, with trust, schema.name(type, type)."`
	Trust    bool   `yaml:"trust" doc:"You vouch that the function only reads what statements of this connection may read. It may then have any language and volatility. Needs guard.catalog: true."`
}

// Guard says what the guard permits. Unset values keep their default.
type Guard struct {
	MaxBytes       Bytes    `yaml:"maxBytes" doc:"Maximum length of a statement; default 64KiB, at most 256KiB."`
	MaxConstant    Bytes    `yaml:"maxConstant" doc:"Maximum length of a value that a statement makes from constants, such as repeat('x', 1000); default 1MiB."`
	ExplainAnalyze *bool    `yaml:"explainAnalyze" doc:"Permit EXPLAIN ANALYZE of reads; default true."`
	Catalog        *bool    `yaml:"catalog" doc:"For PostgreSQL: also judge by the functions, types, views and tables in the server's catalog; default false."`
	Types          string   `yaml:"types" doc:"Casts to types that are not built in; default allow." enum:"allow,refuse"`
	Reveal         []string `yaml:"reveal" doc:"What statements may read of the server itself, besides what shows neither data nor statements of others; default none. docs/evidence/reveal.md lists the groups." enum:"statistics,settings,roles,activity,replication,storage,definitions"`
	Role           string   `yaml:"role" doc:"What to do when the role can write; default warn; refuse for SQL Server, ClickHouse, BigQuery and TiDB." enum:"warn,refuse"`
}

// over returns g with the values of base for everything that g leaves unset.
func (g Guard) over(base Guard) Guard {
	if g.MaxBytes == 0 {
		g.MaxBytes = base.MaxBytes
	}
	if g.MaxConstant == 0 {
		g.MaxConstant = base.MaxConstant
	}
	if g.ExplainAnalyze == nil {
		g.ExplainAnalyze = base.ExplainAnalyze
	}
	if g.Catalog == nil {
		g.Catalog = base.Catalog
	}
	if g.Types == "" {
		g.Types = base.Types
	}
	if g.Reveal == nil {
		g.Reveal = base.Reveal
	}
	if g.Role == "" {
		g.Role = base.Role
	}
	return g
}

// GuardOf returns the guard block that applies to a connection.
func (c *Config) GuardOf(id string) Guard { return c.Connections[id].Guard.over(c.Guard) }

// Check says how ktx sql check reads files.
type Check struct {
	Overrides []CheckOverride `yaml:"overrides" doc:"Dialects, policies and severities of files by pattern; of each, the first pattern that matches counts."`
	// Migrations are the files that are judged by what they do to a running system.
	Migrations Migrations `yaml:"migrations" doc:"SQL files that change the schema, which are judged by what they do to a system in use."`
	Sinks      Sinks      `yaml:"sinks" doc:"Your own functions that take SQL, by the last part of their names."`
	Exclude    []string   `yaml:"exclude" doc:"Patterns of files that are not checked unless an argument names them, relative to the project; ** matches any number of folders."`
	// Parameters says what a parameter in a file of SQL is.
	Parameters string `yaml:"parameters" doc:"What $1, ?, :name, @name and sqlc.arg(name) in files of SQL are: auto (default) takes them for values, refuse for what they are to the gateway." enum:"auto,refuse"`
}

// Migrations names the SQL files that change the schema.
type Migrations struct {
	Paths       []string `yaml:"paths" doc:"Patterns relative to the project; ** matches any number of folders."`
	Transaction bool     `yaml:"transaction" doc:"Whether your tool runs each file in one transaction."`
}

// Sinks names the user's own functions that take SQL as their first argument.
type Sinks struct {
	Go         []string `yaml:"go" doc:"Functions in Go that take SQL, by the last part of their names."`
	Python     []string `yaml:"python" doc:"Functions in Python that take SQL."`
	TypeScript []string `yaml:"typescript" doc:"Functions in TypeScript and JavaScript that take SQL."`
}

// CheckOverride sets the dialect, the policy and the severities of the files
// whose path matches a pattern.
type CheckOverride struct {
	Paths   []string `yaml:"paths" doc:"Patterns relative to the project; ** matches any number of folders."`
	Dialect string   `yaml:"dialect" doc:"The dialect. Files in a dialect that ktx has no reader for are skipped." enum:"postgres,mysql,mariadb,sqlserver,sqlite,duckdb,clickhouse,trino,snowflake,bigquery,postgresql,mssql,tsql,sqlite3,redshift,databricks"`
	// Connection is the id of the connection whose policy the files have.
	Connection string            `yaml:"connection" doc:"The connection whose policy the files have."`
	Severity   map[string]string `yaml:"severity" doc:"Severities of codes, such as write_statement: note. They are error, warning and note."`
}

// Scan says how ktx scan reads databases.
type Scan struct {
	Budget      Duration   `yaml:"budget" doc:"Maximum time of a scan; default 10m. A scan that has used it up goes on where it stopped when it is run again."`
	Concurrency int        `yaml:"concurrency" doc:"Statements that a scan runs at once; default 1." min:"1" max:"64"`
	SampleRows  int        `yaml:"sampleRows" doc:"Maximum number of rows that the profile of a table reads; default 10000." min:"1" max:"1000000"`
	Values      ScanValues `yaml:"values" doc:"Values of text columns that the dictionary keeps."`
	Limits      ScanLimits `yaml:"limits" doc:"Limits of one statement of a scan, instead of those of the connection."`
}

// ScanValues says which values of text columns the dictionary keeps. Columns are named
// as column, table.column or schema.table.column, and * stands for any characters.
type ScanValues struct {
	PerColumn int      `yaml:"perColumn" doc:"Maximum number of values of a column; default 50000." min:"1" max:"50000"`
	Include   []string `yaml:"include" doc:"Columns to keep although their names say personal data or free text, such as public.shops.email."`
	Exclude   []string `yaml:"exclude" doc:"Columns to leave out."`
}

// ScanLimits bound one statement of a scan.
type ScanLimits struct {
	Rows  int   `yaml:"rows" doc:"Maximum number of rows; default 1000000." min:"1" max:"10000000"`
	Bytes Bytes `yaml:"bytes" doc:"Maximum size of all values together; default 256MiB."`
}
