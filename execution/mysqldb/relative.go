package mysqldb

import (
	"context"
	"strings"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/internal/rowset"
)

// The relatives that the probe knows by their marks. TiDB is another flavour, and a
// connection to it does not begin under another name.
const (
	relativeAurora = "aurora"
	relativeGalera = "galera"
)

// relatives compares the relative of MySQL or MariaDB that the configuration names with
// what the server says of itself.
func (p *prober) relatives(ctx context.Context) error {
	res, err := p.db.run(ctx, relativesSQL, questionLimits)
	if err != nil {
		return err
	}
	found := relativeOf(rowset.Texts(res.Rows))
	declared := p.db.dialer.relative
	switch {
	case p.flavour == tidb:
	case declared != "" && declared != found:
		p.report.Warn(execution.TopicServer, "set driver: "+string(p.flavour)+", or mend the address",
			"ktx.yaml has driver: mysql:%s, and the server does not look like one: functions of the same names are somebody's own there", declared)
	case declared == "" && found != "":
		p.report.Note(execution.TopicServer, "set driver: mysql:"+found, "the server is one of those that the driver mysql:%s is for, which knows what is its own", found)
	}
	if version := p.facts[factVersion] + " " + p.facts[factComment]; strings.Contains(strings.ToLower(version), "vitess") || strings.Contains(strings.ToLower(version), "planetscale") {
		p.report.Warn(execution.TopicServer, "read from a replica with an account that may only read",
			"the server is Vitess, which spreads a transaction over several servers: ktx has not been tried on it, and its functions are not on a list of their own")
	}
	return nil
}

// relativeOf returns the relative that has these variables, or "". A node of Galera has an
// address of its cluster; MariaDB without one has the variables too, with other values.
func relativeOf(rows [][]string) string {
	values := map[string]string{}
	for _, row := range rows {
		if len(row) == 2 {
			values[strings.ToLower(row[0])] = row[1]
		}
	}
	_, aurora := values["aurora_version"]
	switch {
	case aurora:
		return relativeAurora
	case strings.EqualFold(values["wsrep_on"], "ON") && values["wsrep_cluster_address"] != "":
		return relativeGalera
	default:
		return ""
	}
}
