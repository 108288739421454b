package corpus

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Expect is what a case demands of a guard.
type Expect string

// The demands. The zero value is none of them and fails [Lint].
const (
	Reject Expect = "reject" // whatever the configuration
	Allow  Expect = "allow"  // by a guard that permits reading the case's tables
	Policy Expect = "policy" // either, by configuration: see [PolicyNote]
)

// Case is one statement and what a guard must do with it.
type Case struct {
	ID      string // "KTX-PG-INTO-0003"; never reused
	Class   string // the name of a [Class]
	Dialect string // the name of a [Dialect]
	Flavour string // a server family within the dialect ("mariadb"), or empty
	Title   string
	// SQL is the text as a guard receives it, byte for byte. It may hold NUL
	// and may be invalid UTF-8.
	SQL        string
	Expect     Expect
	Codes      []string // codes that explain a refusal, the best one first
	Policy     *PolicyNote
	Engine     *Engine
	Setup      *Setup // what the statement needs around it, beyond the fixture
	Effect     *Effect
	Refs       Refs
	Evidence   []Evidence
	NotShown   *NotShown // why no engine has shown the effect of a reject case
	BenignTwin string    // the ID of the nearest statement that must pass
	Since      string    // the corpus version that added the case
}

// PolicyNote says which setting decides a case with [Policy].
type PolicyNote struct {
	Key     string `json:"key"`     // what decides, such as "guard.explainAnalyze"
	Default Expect `json:"default"` // the decision of ktx with its default configuration
	// Deny are the relations (schema.name) and columns (schema.name.column) that a rule
	// must deny for the statement to be refused. Its benign twin passes under the same rule.
	Deny []string `json:"deny,omitempty"`
}

// Engine says where a statement does what its title says. A case without Engine
// applies to every supported version and to an ordinary role.
type Engine struct {
	Name  string   `json:"name"`
	Min   string   `json:"min,omitempty"`   // first version
	Max   string   `json:"max,omitempty"`   // last version
	Needs []string `json:"needs,omitempty"` // roles, extensions or objects beyond the tables of INTERPRETING.md
}

// Setup is what has to be there before a statement can do what its title says.
// Each text is one or more statements of the case's dialect.
type Setup struct {
	Database []string `json:"database,omitempty"` // run by an administrator, before the session begins
	Session  []string `json:"session,omitempty"`  // run in the session of the case, by its role
}

// Effect is what the statement does if nothing stops it.
type Effect struct {
	Kind string `json:"kind"`
	// ContainedByReadOnlyTx says whether a read-only transaction or session
	// alone stops the effect. It is nil if that is not known, or if the
	// question does not apply.
	ContainedByReadOnlyTx *bool `json:"contained_by_read_only_tx,omitempty"`
}

// NotShown says why no engine has shown what a case does.
type NotShown struct {
	Kind string `json:"kind"` // such as "absent"; INTERPRETING.md lists them
	Text string `json:"text"`
}

// Refs are public sources.
type Refs struct {
	CWE  []string `json:"cwe,omitempty"`
	CVE  []string `json:"cve,omitempty"`
	URLs []string `json:"urls,omitempty"`
}

// Evidence is one observation of the statement on a real engine. If no engine
// can be had, Source and Ref name a document instead.
type Evidence struct {
	Engine  string `json:"engine,omitempty"`
	Version string `json:"version,omitempty"`
	Role    string `json:"role,omitempty"`
	Tx      string `json:"tx,omitempty"`
	Outcome string `json:"outcome,omitempty"`
	Probe   string `json:"probe,omitempty"`
	Date    string `json:"date,omitempty"`
	Source  string `json:"source,omitempty"`
	Ref     string `json:"ref,omitempty"`
}

// wire is the JSON shape of a case, in cases.json and in JSON Lines.
type wire struct {
	ID         string      `json:"id"`
	Class      string      `json:"class,omitempty"`
	Dialect    string      `json:"dialect,omitempty"`
	Flavour    string      `json:"flavour,omitempty"`
	Title      string      `json:"title,omitempty"`
	SQL        *string     `json:"sql,omitempty"`
	SQLB64     *string     `json:"sql_b64,omitempty"`
	SQLParts   []part      `json:"sql_parts,omitempty"` // class files only
	Expect     Expect      `json:"expect,omitempty"`
	Codes      []string    `json:"codes,omitempty"`
	Policy     *PolicyNote `json:"policy,omitempty"`
	Engine     *Engine     `json:"engine,omitempty"`
	Setup      *Setup      `json:"setup,omitempty"`
	Effect     *Effect     `json:"effect,omitempty"`
	Refs       *Refs       `json:"refs,omitempty"`
	Evidence   []Evidence  `json:"evidence,omitempty"`
	NotShown   *NotShown   `json:"not_shown,omitempty"`
	BenignTwin string      `json:"benign_twin,omitempty"`
	Since      string      `json:"since,omitempty"`
}

// part is a piece of a long text: Text, repeated Times times.
type part struct {
	Text  string `json:"text"`
	Times int    `json:"times,omitempty"`
}

// maxText is the most bytes that the parts of one case may have in total.
const maxText = 1 << 20

// needsBase64 reports whether a JSON string cannot hold sql without changing
// it.
func needsBase64(sql string) bool {
	return !utf8.ValidString(sql) || strings.ContainsRune(sql, 0)
}

// MarshalJSON writes the case as in cases.json. The statement is in `sql`, or
// in `sql_b64` if it holds NUL or is not valid UTF-8.
func (c Case) MarshalJSON() ([]byte, error) {
	w := wire{
		ID: c.ID, Class: c.Class, Dialect: c.Dialect, Flavour: c.Flavour, Title: c.Title,
		Expect: c.Expect, Codes: c.Codes, Policy: c.Policy, Engine: c.Engine, Setup: c.Setup, Effect: c.Effect,
		Evidence: c.Evidence, NotShown: c.NotShown, BenignTwin: c.BenignTwin, Since: c.Since,
	}
	if len(c.Refs.CWE)+len(c.Refs.CVE)+len(c.Refs.URLs) > 0 {
		w.Refs = &c.Refs
	}
	if needsBase64(c.SQL) {
		encoded := base64.StdEncoding.EncodeToString([]byte(c.SQL))
		w.SQLB64 = &encoded
	} else {
		w.SQL = &c.SQL
	}
	return json.Marshal(w)
}

// UnmarshalJSON reads the output of MarshalJSON, and the cases of class files.
// It ignores unknown fields.
func (c *Case) UnmarshalJSON(data []byte) error {
	var w wire
	if err := json.Unmarshal(data, &w); err != nil {
		return err
	}
	sql, err := w.text()
	if err != nil {
		return err
	}
	*c = Case{
		ID: w.ID, Class: w.Class, Dialect: w.Dialect, Flavour: w.Flavour, Title: w.Title,
		SQL: sql, Expect: w.Expect, Codes: w.Codes, Policy: w.Policy, Engine: w.Engine, Setup: w.Setup, Effect: w.Effect,
		Evidence: w.Evidence, NotShown: w.NotShown, BenignTwin: w.BenignTwin, Since: w.Since,
	}
	if w.Refs != nil {
		c.Refs = *w.Refs
	}
	return nil
}

// text returns the statement from the one field that holds it.
func (w *wire) text() (string, error) {
	given := 0
	for _, present := range []bool{w.SQL != nil, w.SQLB64 != nil, len(w.SQLParts) > 0} {
		if present {
			given++
		}
	}
	switch {
	case given == 0:
		return "", errors.New(`neither "sql" nor "sql_b64" is given`)
	case given > 1:
		return "", errors.New(`the statement is given more than once: use "sql" or "sql_b64"`)
	case w.SQL != nil:
		return *w.SQL, nil
	case w.SQLB64 != nil:
		raw, err := base64.StdEncoding.DecodeString(*w.SQLB64)
		if err != nil {
			return "", fmt.Errorf("sql_b64: %w", err)
		}
		return string(raw), nil
	}
	var b strings.Builder
	for i, p := range w.SQLParts {
		times := max(p.Times, 1)
		if p.Times < 0 || len(p.Text) > maxText || times > maxText || b.Len()+len(p.Text)*times > maxText {
			return "", fmt.Errorf("sql_parts[%d]: the text would be longer than %d bytes", i, maxText)
		}
		b.WriteString(strings.Repeat(p.Text, times))
	}
	return b.String(), nil
}
