package audit

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"net/netip"
	"slices"
	"strings"

	"github.com/ktxhq/ktx/sqlguard"
)

// The version and class of the Open Cybersecurity Schema Framework that the
// mapping follows.
const (
	// OCSFVersion is the version that exported events name. The events are also
	// valid in all later versions that the tests know.
	OCSFVersion = "1.3.0"
	// OCSFClass is Datastore Activity, in the category Application Activity.
	OCSFClass = 6005

	ocsfCategory = 6
	ocsfProfile  = "security_control"
)

// ocsfEvent is an event of class 6005. The fields are in the order in which
// people read them.
type ocsfEvent struct {
	ClassUID     int    `json:"class_uid"`
	ClassName    string `json:"class_name"`
	CategoryUID  int    `json:"category_uid"`
	CategoryName string `json:"category_name"`
	ActivityID   int    `json:"activity_id"`
	ActivityName string `json:"activity_name"`
	TypeUID      int64  `json:"type_uid"`
	TypeName     string `json:"type_name"`
	Time         int64  `json:"time"` // ms since 1970
	Duration     *int64 `json:"duration,omitempty"`
	SeverityID   int    `json:"severity_id"`
	Severity     string `json:"severity"`
	StatusID     int    `json:"status_id"`
	Status       string `json:"status"`
	StatusCode   string `json:"status_code,omitempty"`
	StatusDetail string `json:"status_detail,omitempty"`
	Message      string `json:"message"`

	// The fields of the profile security_control.
	ActionID       int                 `json:"action_id"`
	Action         string              `json:"action"`
	DispositionID  int                 `json:"disposition_id"`
	Disposition    string              `json:"disposition"`
	Authorizations []ocsfAuthorization `json:"authorizations,omitempty"`

	Metadata    ocsfMetadata   `json:"metadata"`
	Actor       ocsfActor      `json:"actor"`
	SrcEndpoint ocsfEndpoint   `json:"src_endpoint"`
	TypeID      int            `json:"type_id"`
	Type        string         `json:"type"`
	Database    ocsfDatabase   `json:"database"`
	Table       *ocsfTable     `json:"table,omitempty"`
	QueryInfo   *ocsfQueryInfo `json:"query_info,omitempty"`
	Unmapped    ocsfUnmapped   `json:"unmapped"`
}

type ocsfAuthorization struct {
	Decision string      `json:"decision"`
	Policy   *ocsfPolicy `json:"policy,omitempty"`
}

type ocsfPolicy struct {
	Name string `json:"name"`
	UID  string `json:"uid"`
}

type ocsfMetadata struct {
	Version        string      `json:"version"`
	Profiles       []string    `json:"profiles"`
	Product        ocsfProduct `json:"product"`
	UID            string      `json:"uid,omitempty"`
	CorrelationUID string      `json:"correlation_uid,omitempty"`
	Sequence       int64       `json:"sequence,omitempty"`
	LogName        string      `json:"log_name"`
	OriginalTime   string      `json:"original_time"`
}

type ocsfProduct struct {
	Name       string `json:"name"`
	VendorName string `json:"vendor_name"`
	Version    string `json:"version,omitempty"`
}

type ocsfActor struct {
	User    ocsfUser     `json:"user"`
	Session *ocsfSession `json:"session,omitempty"`
	AppName string       `json:"app_name,omitempty"`
}

type ocsfUser struct {
	Name string `json:"name"`
}

type ocsfSession struct {
	UID string `json:"uid"`
}

type ocsfEndpoint struct {
	Name    string `json:"name"`
	SvcName string `json:"svc_name,omitempty"`
	IP      string `json:"ip,omitempty"`
	Port    uint16 `json:"port,omitempty"`
}

type ocsfDatabase struct {
	Name   string `json:"name"`
	UID    string `json:"uid"`
	TypeID int    `json:"type_id"`
	Type   string `json:"type"`
}

type ocsfTable struct {
	Name string `json:"name"`
}

type ocsfQueryInfo struct {
	QueryString string `json:"query_string"`
	UID         string `json:"uid,omitempty"`
	Bytes       *int64 `json:"bytes,omitempty"`
}

// ocsfUnmapped holds the fields that the class has no attribute for, under the
// log's names.
type ocsfUnmapped struct {
	Tables        []string        `json:"tables,omitempty"`
	Functions     []string        `json:"functions,omitempty"`
	Codes         []string        `json:"codes,omitempty"`
	Kind          string          `json:"kind,omitempty"`
	HMAC          string          `json:"hmac,omitempty"`
	Bytes         int64           `json:"sql_bytes,omitempty"`
	Dialect       string          `json:"dialect,omitempty"`
	Parser        string          `json:"parser,omitempty"`
	LatencyUS     *int64          `json:"latency_us,omitempty"`
	ClientVersion string          `json:"client_version,omitempty"`
	Limits        json.RawMessage `json:"limits,omitempty"`
	Rows          *int64          `json:"rows,omitempty"`
	ExecMS        *float64        `json:"exec_ms,omitempty"`
	TruncatedBy   string          `json:"truncated_by,omitempty"`
	SQLState      string          `json:"sqlstate,omitempty"`
	Decision      *ocsfOrigin     `json:"decision_event,omitempty"`
	Outcome       *ocsfOrigin     `json:"outcome_event,omitempty"`
}

// ocsfOrigin names an event of the log.
type ocsfOrigin struct {
	Seq  int64  `json:"seq"`
	Hash string `json:"hash"`
	Time string `json:"ts"`
}

// ocsfUnknown is the value when the schema requires a name and the log has
// none.
const ocsfUnknown = "unknown"

// OCSF writes s as one event of OCSF class 6005, Datastore Activity, with the
// profile security_control. productVersion is the version of ktx that exports
// the event. The event holds no literal of the statement, whatever [SQLMode]
// was in force, because the raw statement is left out. Fields of the withheld
// classes are left out too; a name that the schema requires is then "unknown".
func OCSF(s Statement, productVersion string, withheld ...Class) ([]byte, error) {
	if len(withheld) > 0 {
		for _, e := range []*Event{&s.Decision, &s.Outcome} {
			var kept Event
			if err := json.Unmarshal(Redacted(*e, withheld...), &kept); err != nil {
				return nil, fmt.Errorf("withhold fields of event %d: %w", e.Seq, err)
			}
			*e = kept
		}
	}
	e := s.Event()
	out := ocsfEvent{
		ClassUID: OCSFClass, ClassName: "Datastore Activity",
		CategoryUID: ocsfCategory, CategoryName: "Application Activity",
		Time:        e.Time.UnixMilli(),
		Metadata:    ocsfMetadataOf(&e, productVersion),
		Actor:       ocsfActor{User: ocsfUser{Name: cmp.Or(e.Principal, ocsfUnknown)}, AppName: e.Client.Name},
		SrcEndpoint: ocsfEndpointOf(e.Client),
		TypeID:      1, Type: "Database",
		Database: ocsfDatabase{
			Name: cmp.Or(e.Connection.ID, ocsfUnknown), UID: cmp.Or(e.Connection.ID, ocsfUnknown),
			TypeID: 1, Type: "Relational",
		},
		Unmapped: ocsfUnmapped{
			Tables: e.SQL.Tables, Functions: e.SQL.Functions, Codes: e.Decision.Codes, Kind: e.SQL.Kind,
			HMAC: e.SQL.HMAC, Bytes: e.SQL.Bytes, Dialect: e.Connection.Dialect, Parser: e.Decision.Parser,
			ClientVersion: e.Client.Version, TruncatedBy: e.Result.TruncatedBy, SQLState: e.Result.SQLState,
			Decision: originOf(&s.Decision), Outcome: originOf(&s.Outcome),
		},
	}
	if e.Session != "" {
		out.Actor.Session = &ocsfSession{UID: e.Session}
	}
	if len(e.SQL.Tables) == 1 {
		out.TypeID, out.Type, out.Table = 3, "Table", &ocsfTable{Name: e.SQL.Tables[0]}
	}
	if e.SQL.Normalized != "" {
		out.QueryInfo = &ocsfQueryInfo{QueryString: e.SQL.Normalized, UID: e.SQL.Fingerprint}
	}
	if s.Decision.Type != "" {
		out.Unmapped.LatencyUS = &e.Decision.LatencyUS
		out.Authorizations = []ocsfAuthorization{{Decision: e.Decision.Verdict}}
		if e.Decision.Policy != "" {
			out.Authorizations[0].Policy = &ocsfPolicy{Name: "ktx guard", UID: e.Decision.Policy}
		}
		if e.Limits != (Limits{}) {
			limits, err := json.Marshal(e.Limits)
			if err != nil {
				return nil, err
			}
			out.Unmapped.Limits = limits
		}
	}
	if s.Outcome.Type != "" {
		ms := int64(math.Round(e.Result.ExecMS))
		out.Duration, out.Unmapped.Rows, out.Unmapped.ExecMS = &ms, &e.Result.Rows, &e.Result.ExecMS
		if out.QueryInfo != nil {
			out.QueryInfo.Bytes = &e.Result.Bytes
		}
	}
	out.activity(&e)
	out.outcome(s)
	return ocsfJSON(&out)
}

// ocsfJSON writes v on one line, without HTML escapes.
func ocsfJSON(v any) ([]byte, error) {
	var buf bytes.Buffer
	encoder := json.NewEncoder(&buf)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}

func ocsfMetadataOf(e *Event, productVersion string) ocsfMetadata {
	m := ocsfMetadata{
		Version: OCSFVersion, Profiles: []string{ocsfProfile},
		Product: ocsfProduct{Name: "ktx", VendorName: "ktx", Version: productVersion},
		UID:     e.QueryID, CorrelationUID: e.Session, LogName: "ktx audit",
		OriginalTime: e.Time.UTC().Format(timeLayout),
	}
	if e.Seq <= math.MaxInt32 { // the schema's integer may have 32 bits
		m.Sequence = e.Seq
	}
	return m
}

// ocsfEndpointOf returns the origin of the statement: the address on a network,
// otherwise the name of the transport.
func ocsfEndpointOf(c Client) ocsfEndpoint {
	p := ocsfEndpoint{Name: cmp.Or(c.Transport, ocsfUnknown), SvcName: c.Name}
	if at, err := netip.ParseAddrPort(c.Address); err == nil {
		p.IP, p.Port = at.Addr().WithZone("").String(), at.Port()
	} else if ip, err := netip.ParseAddr(c.Address); err == nil {
		p.IP = ip.WithZone("").String()
	}
	return p
}

func originOf(e *Event) *ocsfOrigin {
	if e.Type == "" {
		return nil
	}
	return &ocsfOrigin{Seq: e.Seq, Hash: e.Chain.Hash, Time: e.Time.UTC().Format(timeLayout)}
}

// ocsfActivities are the activities of kinds of statements. Every other kind is
// 99, Other, under the name that the log has for it.
var ocsfActivities = map[string]struct {
	id   int
	name string
}{
	"":                            {0, "Unknown"}, // the statement could not be parsed
	string(sqlguard.VerbSelect):   {4, "Query"},
	string(sqlguard.VerbValues):   {4, "Query"},
	string(sqlguard.VerbTable):    {4, "Query"},
	string(sqlguard.VerbShow):     {4, "Query"},
	string(sqlguard.VerbExplain):  {4, "Query"},
	string(sqlguard.VerbDescribe): {4, "Query"},
	string(sqlguard.VerbPragma):   {4, "Query"},
	"insert":                      {6, "Create"},
	"update":                      {2, "Update"},
	"delete":                      {7, "Delete"},
	"truncate":                    {7, "Delete"},
	"merge":                       {5, "Write"},
}

// ocsfWrites are the codes of a query that was refused because it writes.
var ocsfWrites = []sqlguard.Code{sqlguard.CodeWriteInCTE, sqlguard.CodeSelectInto}

// activity sets what kind of statement was requested.
func (o *ocsfEvent) activity(e *Event) {
	a, listed := ocsfActivities[e.SQL.Kind]
	if !listed {
		a.id, a.name = 99, e.SQL.Kind
	}
	if slices.ContainsFunc(ocsfWrites, func(c sqlguard.Code) bool { return slices.Contains(e.Decision.Codes, string(c)) }) {
		a.id, a.name = 5, "Write"
	}
	o.ActivityID, o.ActivityName = a.id, a.name
	o.TypeUID, o.TypeName = int64(OCSFClass*100+a.id), o.ClassName+": "+a.name
	if a.id == 99 {
		o.TypeName = o.ClassName + ": Other"
	}
}

// outcome sets how the statement ended.
func (o *ocsfEvent) outcome(s Statement) {
	status, r := s.Status(), s.Outcome.Result
	o.SeverityID, o.Severity = 1, "Informational"
	o.ActionID, o.Action, o.DispositionID, o.Disposition = 1, "Allowed", 1, "Allowed"
	o.StatusID, o.Status, o.StatusCode = 2, "Failure", r.Code
	if r.SQLState != "" {
		o.StatusDetail = "SQLSTATE " + r.SQLState
		if len(r.SQLState) != 5 { // SQLite's name of the error, SQL Server's number
			o.StatusDetail = "error " + r.SQLState
		}
	}
	switch status {
	case StatusOK:
		o.StatusID, o.Status = 1, "Success"
		if r.TruncatedBy != "" {
			o.StatusDetail = "the result was cut by the limit on " + r.TruncatedBy
		}
	case StatusRefused:
		o.SeverityID, o.Severity = 2, "Low"
		o.ActionID, o.Action, o.DispositionID, o.Disposition = 2, "Denied", 2, "Blocked"
		if codes := s.Decision.Decision.Codes; len(codes) > 0 {
			o.StatusCode, o.StatusDetail = codes[0], "refused: "+strings.Join(codes, ", ")
		}
	case StatusCrashed:
		o.StatusDetail = "the process of the gateway ended before the end was recorded"
	case StatusUnfinished:
		o.StatusID, o.Status, o.StatusDetail = 0, "Unknown", "no end is recorded"
	case StatusUndecided:
		o.ActionID, o.Action, o.DispositionID, o.Disposition = 0, "Unknown", 0, "Unknown"
		if r.Status == StatusOK {
			o.StatusID, o.Status = 1, "Success"
		}
	}
	o.Message = fmt.Sprintf("ktx: statement on %s %s", o.Database.Name, status)
	if o.StatusCode != "" && o.StatusCode != status {
		o.Message += " (" + o.StatusCode + ")"
	}
}
