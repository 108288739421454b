//go:build never

package deps

import (
	_ "github.com/google/go-cmp/cmp"
	_ "github.com/gowebpki/jcs"
	_ "github.com/jackc/pgx/v5"
	_ "github.com/jackc/pgx/v5/pgconn"
	_ "github.com/modelcontextprotocol/go-sdk/mcp"
	_ "github.com/ncruces/go-sqlite3"
	_ "github.com/ncruces/go-sqlite3/driver"
	_ "github.com/ncruces/go-sqlite3/ext/fts5"
	_ "github.com/pganalyze/pg_query_go/v6"
	_ "github.com/rogpeppe/go-internal/testscript"
	_ "github.com/santhosh-tekuri/jsonschema/v6"
	_ "github.com/spf13/cobra"
	_ "github.com/spf13/cobra/doc"
	_ "github.com/sqlc-dev/meyer/parser"
	_ "github.com/sqlc-dev/oliphant/parser"
	_ "github.com/tiktoken-go/tokenizer"
	_ "go.uber.org/goleak"
	_ "go.yaml.in/yaml/v3"
	_ "golang.org/x/term"
	_ "pgregory.net/rapid"
)
