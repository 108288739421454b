package main

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
)

// scratchDatabase is created for the harvest of extensions and dropped after.
const scratchDatabase = "ktx_pgcatalog_scratch"

// plainRole is a predefined role that may not see superuser-only settings.
const plainRole = "pg_signal_backend"

// origin of an object: its schema for what the server ships, "ext:NAME" for
// the members of an extension. Objects of nobody's extension outside the two
// system schemas are not facts and are left out.
const originExpr = `coalesce('ext:' || e.extname, n.nspname)`

const originJoin = `
	JOIN pg_namespace n ON n.oid = %[1]s
	LEFT JOIN pg_depend d ON d.classid = '%[2]s'::regclass AND d.objid = o.oid AND d.deptype = 'e'
	LEFT JOIN pg_extension e ON e.oid = d.refobjid AND e.extname <> 'plpgsql'
	WHERE (e.oid IS NOT NULL OR n.nspname IN ('pg_catalog', 'information_schema'))`

var factQueries = map[string]string{
	"extensions.tsv": `SELECT extname, extversion FROM pg_extension`,

	// Flags: volatility; S returns a set; V variadic; X PUBLIC may not execute
	// it; D security definer; rN needs N arguments though it takes more;
	// L= the language when it is neither C nor built in. Members of extensions
	// that take or return what no SQL text can produce are left out.
	"functions.tsv": `
SELECT ` + originExpr + `, o.proname, o.prokind,
	(SELECT coalesce(string_agg(format_type(t, NULL), ',' ORDER BY i), '') FROM unnest(o.proargtypes::oid[]) WITH ORDINALITY AS u(t, i)),
	format_type(o.prorettype, NULL),
	o.provolatile::text
		|| CASE WHEN o.proretset THEN 'S' ELSE '' END
		|| CASE WHEN o.provariadic <> 0 THEN 'V' ELSE '' END
		|| CASE WHEN NOT EXISTS (SELECT FROM aclexplode(coalesce(o.proacl, acldefault('f', o.proowner))) a WHERE a.grantee = 0 AND a.privilege_type = 'EXECUTE') THEN 'X' ELSE '' END
		|| CASE WHEN o.prosecdef THEN 'D' ELSE '' END
		|| CASE WHEN o.pronargdefaults > 0 THEN 'r' || (o.pronargs - o.pronargdefaults) ELSE '' END
		|| CASE WHEN l.lanname IN ('c', 'internal') THEN '' ELSE ' L=' || l.lanname END
FROM pg_proc o JOIN pg_language l ON l.oid = o.prolang` +
		fmt.Sprintf(originJoin, "o.pronamespace", "pg_proc") + `
	AND (e.oid IS NULL OR NOT EXISTS (
		SELECT FROM unnest(o.proargtypes::oid[] || o.prorettype) AS u(t) JOIN pg_type ty ON ty.oid = u.t
		WHERE ty.typname IN ('internal', 'trigger', 'event_trigger') OR ty.typname LIKE '%\_handler'))`,

	"operators.tsv": `
SELECT ` + originExpr + `, o.oprname, CASE WHEN o.oprleft = 0 THEN '' ELSE format_type(o.oprleft, NULL) END,
	format_type(o.oprright, NULL), p.proname
FROM pg_operator o JOIN pg_proc p ON p.oid = o.oprcode` +
		fmt.Sprintf(originJoin, "o.oprnamespace", "pg_operator"),

	"casts.tsv": `
SELECT coalesce('ext:' || e.extname, 'pg_catalog'), format_type(o.castsource, NULL), format_type(o.casttarget, NULL), p.proname
FROM pg_cast o JOIN pg_proc p ON p.oid = o.castfunc
	LEFT JOIN pg_depend d ON d.classid = 'pg_cast'::regclass AND d.objid = o.oid AND d.deptype = 'e'
	LEFT JOIN pg_extension e ON e.oid = d.refobjid`,

	// Row types of relations are not types that a cast is expected to name.
	// Array types are internally dependent on their element type, not members
	// of the extension themselves.
	"types.tsv": `
SELECT ` + originExpr + `, o.typname, o.typtype
FROM pg_type o LEFT JOIN pg_type el ON el.oid = o.typelem AND o.typcategory = 'A'
	JOIN pg_namespace n ON n.oid = o.typnamespace
	LEFT JOIN pg_depend d ON d.classid = 'pg_type'::regclass AND d.objid = coalesce(el.oid, o.oid) AND d.deptype = 'e'
	LEFT JOIN pg_extension e ON e.oid = d.refobjid AND e.extname <> 'plpgsql'
WHERE (e.oid IS NOT NULL OR n.nspname IN ('pg_catalog', 'information_schema'))
	AND coalesce(el.typtype, o.typtype) <> 'c'`,

	// Columns in order. Flag X: PUBLIC may not select.
	"relations.tsv": `
SELECT ` + originExpr + `, o.relname, o.relkind,
	CASE WHEN EXISTS (SELECT FROM aclexplode(coalesce(o.relacl, acldefault('r', o.relowner))) a WHERE a.grantee = 0 AND a.privilege_type = 'SELECT') THEN '' ELSE 'X' END,
	(SELECT string_agg(a.attname, ',' ORDER BY a.attnum) FROM pg_attribute a WHERE a.attrelid = o.oid AND a.attnum > 0 AND NOT a.attisdropped)
FROM pg_class o` +
		fmt.Sprintf(originJoin, "o.relnamespace", "pg_class") + `
	AND o.relkind IN ('r', 'v', 'm', 'f', 'p')`,
}

// Settings of extensions (names with a dot) depend on what is loaded and are
// never on the list. Flag X: hidden from roles without pg_read_all_settings.
const (
	settingsQuery = `SELECT name, context, vartype FROM pg_settings WHERE name NOT LIKE '%.%'`
	visibleQuery  = `SELECT name FROM pg_settings WHERE name NOT LIKE '%.%'`
)

// Harvest reads the catalogues of the server at url and returns its major
// version and its facts by file. The role must be a superuser. Extensions that
// cannot be created are named on log and left out.
func Harvest(ctx context.Context, url string, log io.Writer) (int, map[string][]string, error) {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return 0, nil, fmt.Errorf("parse server URL: %w", err)
	}
	admin, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return 0, nil, fmt.Errorf("connect: %w", err)
	}
	defer func() { _ = admin.Close(ctx) }()
	var number int
	if err := admin.QueryRow(ctx, `SELECT current_setting('server_version_num')::int`).Scan(&number); err != nil {
		return 0, nil, fmt.Errorf("read the server's version: %w", err)
	}
	if _, err := admin.Exec(ctx, "CREATE DATABASE "+scratchDatabase+" TEMPLATE template0 ENCODING 'UTF8'"); err != nil {
		return 0, nil, fmt.Errorf("create scratch database: %w", err)
	}
	scratch := config.Copy()
	scratch.Database = scratchDatabase
	seen, err := harvestDatabase(ctx, scratch, log)
	if _, dropErr := admin.Exec(ctx, "DROP DATABASE "+scratchDatabase); dropErr != nil && err == nil {
		err = fmt.Errorf("drop scratch database: %w", dropErr)
	}
	if err != nil {
		return 0, nil, err
	}
	major := number / 10000
	seen["servers.tsv"] = []string{fmt.Sprintf("%d\t%d.%d", major, major, number%10000)}
	return major, seen, nil
}

func harvestDatabase(ctx context.Context, config *pgx.ConnConfig, log io.Writer) (map[string][]string, error) {
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("connect to scratch database: %w", err)
	}
	defer func() { _ = conn.Close(ctx) }()
	seen := map[string][]string{}
	// Settings first: creating extensions loads libraries that add to them.
	if seen["settings.tsv"], err = harvestSettings(ctx, conn); err != nil {
		return nil, err
	}
	names, err := facts(ctx, conn, `SELECT name FROM pg_available_extensions ORDER BY 1`)
	if err != nil {
		return nil, fmt.Errorf("list extensions: %w", err)
	}
	for _, name := range names {
		if _, err := conn.Exec(ctx, "CREATE EXTENSION IF NOT EXISTS "+pgx.Identifier{name}.Sanitize()+" CASCADE"); err != nil {
			_, _ = fmt.Fprintf(log, "extension %s left out: %v\n", name, err)
		}
	}
	for file, query := range factQueries {
		if seen[file], err = facts(ctx, conn, query); err != nil {
			return nil, fmt.Errorf("harvest %s: %w", file, err)
		}
	}
	return seen, nil
}

func harvestSettings(ctx context.Context, conn *pgx.Conn) ([]string, error) {
	all, err := facts(ctx, conn, settingsQuery)
	if err != nil {
		return nil, fmt.Errorf("list settings: %w", err)
	}
	if _, err := conn.Exec(ctx, "SET ROLE "+plainRole); err != nil {
		return nil, fmt.Errorf("become a plain role: %w", err)
	}
	visible, err := facts(ctx, conn, visibleQuery)
	if err != nil {
		return nil, fmt.Errorf("list visible settings: %w", err)
	}
	if _, err := conn.Exec(ctx, "RESET ROLE"); err != nil {
		return nil, fmt.Errorf("become the superuser again: %w", err)
	}
	plain := map[string]bool{}
	for _, name := range visible {
		plain[name] = true
	}
	for i, fact := range all {
		name, _, _ := strings.Cut(fact, "\t")
		flag := ""
		if !plain[name] {
			flag = "X"
		}
		all[i] = fact + "\t" + flag
	}
	return all, nil
}

// facts runs a query and joins the columns of each row with tabs.
func facts(ctx context.Context, conn *pgx.Conn, query string) ([]string, error) {
	rows, err := conn.Query(ctx, query, pgx.QueryExecModeExec)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		var fields []string
		for i, raw := range rows.RawValues() {
			if strings.ContainsAny(string(raw), "\t\n\r") {
				return nil, fmt.Errorf("column %d holds %s", i, strconv.Quote(string(raw)))
			}
			fields = append(fields, string(raw))
		}
		out = append(out, strings.Join(fields, "\t"))
	}
	return out, rows.Err()
}
