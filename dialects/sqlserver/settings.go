package sqlserver

import (
	"strings"

	"github.com/ktxhq/ktx/dialects/internal/lexical"
	"github.com/ktxhq/ktx/sqlguard"
)

// globals are the functions whose names begin with @@ and that may be read.
// Reference: Configuration Functions; System Statistical Functions; System
// functions (Transact-SQL).
var globals = lexical.Set(`
	@@connections @@cpu_busy @@cursor_rows @@datefirst @@dbts @@error @@fetch_status @@identity @@idle @@io_busy @@langid
	@@language @@lock_timeout @@max_connections @@max_precision @@microsoftversion @@nestlevel @@options @@pack_received
	@@pack_sent @@packet_errors @@procid @@rowcount @@servername @@servicename @@spid @@textsize @@timeticks
	@@total_errors @@total_read @@total_write @@trancount @@version`)

// global reads a function such as @@VERSION. Reference: Configuration Functions
// (Transact-SQL).
func (p *parser) global() {
	name := lexical.Lower(p.text())
	read := sqlguard.SettingRead{Name: name, Span: p.here()}
	read.Ruling.Allowed = globals[name]
	p.stmt.Settings = append(p.stmt.Settings, read)
	p.next()
}

// pseudo reads a word that begins with a dollar sign: a reference to a special column,
// or a pseudo-column of a graph. Reference: SELECT Clause
// (Transact-SQL), "$IDENTITY", "$ROWGUID"; SQL Graph Architecture; $PARTITION
// (Transact-SQL).
func (p *parser) pseudo() kind {
	switch lexical.Lower(p.text()) {
	case "$identity", "$rowguid":
		p.allColumns(p.here())
		p.next()
		return scalar
	case "$partition":
		n := p.wordName()
		p.expectMark('.')
		f := p.simpleName("the name of a partition function")
		n.parts[1], n.n, n.at.End = f, 2, f.at.End
		if p.mark() != '(' {
			p.fail(`"("`)
			return none
		}
		p.qualifiedCall(&n)
		return scalar
	case "$node_id", "$edge_id", "$from_id", "$to_id", "$start_id", "$end_id":
		n := p.wordName()
		p.column(&n)
		return scalar
	}
	p.fail("an expression")
	return none
}

// serverProperties are the properties that may be read. The others show paths and
// names of files. Reference: SERVERPROPERTY (Transact-SQL).
var serverProperties = lexical.Set(`
	buildclrversion collation collationid comparisonstyle computernamephysicalnetbios edition editionid engineedition
	filestreamconfiguredlevel filestreameffectivelevel hadrmanagerstatus instancename isadvancedanalyticsinstalled
	isbigdatacluster isclustered isexternalauthenticationonly isexternalgovernanceenabled isfulltextinstalled ishadrenabled
	isintegratedsecurityonly islocaldb ispolybaseinstalled isserversuspendedforsnapshotbackup issingleuser
	istempdbmetadatamemoryoptimized isxtpsupported lcid licensetype machinename numlicenses pathseparator processid
	productbuild productbuildtype productlevel productmajorversion productminorversion productupdatelevel
	productupdatereference productupdatetype productversion resourcelastupdatedatetime resourceversion servername
	sqlcharset sqlcharsetname sqlsortorder sqlsortordername suspendeddatabasecount isdatabasesnapshotsupported`)

// serverPaths are the properties that tell where the server keeps its files.
var serverPaths = lexical.Set(`errorlogfilename instancedefaultbackuppath instancedefaultdatapath instancedefaultlogpath`)

// connectionProperties: CONNECTIONPROPERTY (Transact-SQL).
var connectionProperties = lexical.Set(`net_transport protocol_type auth_scheme local_net_address local_tcp_port
	client_net_address physical_net_transport`)

// sessionProperties: SESSIONPROPERTY (Transact-SQL).
var sessionProperties = lexical.Set(`ansi_nulls ansi_padding ansi_warnings arithabort concat_null_yields_null
	numeric_roundabort quoted_identifier user_options`)

// rulePropertyRead rules on the property that a function reads.
func rulePropertyRead(function, property string) sqlguard.SettingRead {
	var list map[string]bool
	switch function {
	case "serverproperty":
		list = serverProperties
	case "connectionproperty":
		list = connectionProperties
	case "sessionproperty":
		list = sessionProperties
	}
	folded := strings.ToLower(strings.TrimSpace(property))
	read := sqlguard.SettingRead{Name: function + "." + folded}
	if list[folded] {
		read.Ruling.Allowed = true
		return read
	}
	read.Name = function // an unknown property is data of the text
	if function == "serverproperty" && serverPaths[folded] {
		read.Ruling.Reveal = sqlguard.GroupStorage
	}
	read.Ruling.Reason = "this property is not on the list of those that may be read"
	return read
}
