package bigquerydb

import (
	"fmt"
	"strings"

	"github.com/ktxhq/ktx/execution/internal/rowset"
)

// roleName is the service account that the script makes.
const roleName = "ktx-reader"

// roleScript returns a script of commands that make a service account which can read the
// dataset of the connection, or what the rules permit of it, and run queries.
func (p *prober) roleScript() string {
	var b strings.Builder
	line := func(format string, args ...any) { _, _ = fmt.Fprintf(&b, format+"\n", args...) }
	t := p.db.target
	account := roleName + "@" + t.project + ".iam.gserviceaccount.com"

	line("# A service account that reads the dataset %s and does nothing else.", t.dataset)
	line("# Run it in a shell with gcloud and bq, as one who may manage access. It may be run again.")
	line("gcloud iam service-accounts describe %s --project=%s >/dev/null 2>&1 ||", account, t.project)
	line("  gcloud iam service-accounts create %s --project=%s --display-name='ktx, reads only'", roleName, t.project)
	line("# To run queries, which the project pays for:")
	line("gcloud projects add-iam-policy-binding %s --condition=None \\", t.project)
	line("  --member=serviceAccount:%s --role=roles/bigquery.jobUser", account)
	line("# To read:")
	line("bq query --project_id=%s --use_legacy_sql=false <<'SQL'", t.project)
	grantee := " TO \"serviceAccount:" + account + "\";"
	if p.access.Whole(t.dataset) {
		line("GRANT `roles/bigquery.dataViewer` ON SCHEMA %s.%s%s", rowset.Backquoted(t.project), rowset.Backquoted(t.dataset), grantee)
	} else {
		p.scriptGrants(grantee, line)
	}
	line("SQL")
	line("# A limit for all queries of the project is set in its quotas: Query usage per day.")
	return b.String()
}

// scriptGrants writes the grants on the tables and views that the rules permit.
func (p *prober) scriptGrants(grantee string, line func(string, ...any)) {
	t := p.db.target
	line("-- Rules of the connection permit only a part of %s. Tables that are made later need", t.dataset)
	line("-- this script again. INFORMATION_SCHEMA shows the structure of these tables only.")
	for _, g := range p.access.Grants() {
		name := rowset.Backquoted(t.project) + "." + rowset.Backquoted(g.Schema) + "." + rowset.Backquoted(g.Name)
		switch {
		case g.Columns != nil:
			line("-- %s has columns that a rule denies, and no grant of BigQuery leaves out columns:", name)
			line("-- make an authorized view without them, or set policy tags.")
		case g.View:
			line("GRANT `roles/bigquery.dataViewer` ON VIEW %s%s", name, grantee)
		default:
			line("GRANT `roles/bigquery.dataViewer` ON TABLE %s%s", name, grantee)
		}
	}
}
