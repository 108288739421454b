package report

import (
	"io"
	"net/url"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/ktxhq/ktx/sqlguard"
)

// The parts of SARIF 2.1.0 (OASIS) that a report uses, with the sections of the
// standard.
type (
	sarifLog struct { // 3.13
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct { // 3.14
		Tool              sarifTool           `json:"tool"`
		AutomationDetails sarifAutomation     `json:"automationDetails"`
		Invocations       []sarifInvocation   `json:"invocations"`
		ColumnKind        string              `json:"columnKind"`
		BaseIDs           map[string]sarifURI `json:"originalUriBaseIds"`
		Results           []sarifResult       `json:"results"`
	}
	sarifTool struct { // 3.18
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct { // 3.19
		Name            string      `json:"name"`
		FullName        string      `json:"fullName"`
		Organization    string      `json:"organization"`
		Version         string      `json:"version"`
		InformationURI  string      `json:"informationUri"`
		SemanticVersion string      `json:"semanticVersion,omitempty"`
		Rules           []sarifRule `json:"rules"`
	}
	sarifRule struct { // 3.49
		ID               string          `json:"id"`
		Name             string          `json:"name"`
		ShortDescription sarifText       `json:"shortDescription"`
		FullDescription  sarifText       `json:"fullDescription"`
		Help             sarifText       `json:"help"`
		HelpURI          string          `json:"helpUri"`
		Default          sarifLevel      `json:"defaultConfiguration"`
		Properties       sarifProperties `json:"properties"`
	}
	sarifProperties struct {
		Tags      []string `json:"tags"`
		Precision string   `json:"precision"`
		Problem   string   `json:"problem.severity"`
		Security  string   `json:"security-severity,omitempty"`
	}
	sarifLevel struct {
		Level string `json:"level"`
	}
	sarifText struct { // 3.11, 3.12
		Text     string `json:"text"`
		Markdown string `json:"markdown,omitempty"`
	}
	sarifAutomation struct { // 3.17
		ID string `json:"id"`
	}
	sarifInvocation struct { // 3.20
		ExecutionSuccessful bool `json:"executionSuccessful"`
	}
	sarifURI struct { // 3.14.14
		Description *sarifText `json:"description,omitempty"`
	}
	sarifResult struct { // 3.27
		RuleID        string             `json:"ruleId"`
		RuleIndex     int                `json:"ruleIndex"`
		Level         string             `json:"level"`
		Message       sarifText          `json:"message"`
		Locations     []sarifLocation    `json:"locations"`
		Fingerprints  map[string]string  `json:"partialFingerprints"`
		BaselineState string             `json:"baselineState,omitempty"`
		Suppressions  []sarifSuppression `json:"suppressions,omitempty"`
	}
	sarifLocation struct { // 3.28
		Physical sarifPhysical `json:"physicalLocation"`
	}
	sarifPhysical struct { // 3.29
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   sarifRegion   `json:"region"`
	}
	sarifArtifact struct { // 3.4
		URI   string `json:"uri"`
		Base  string `json:"uriBaseId,omitempty"`
		Index *int   `json:"index,omitempty"`
	}
	sarifRegion struct { // 3.30: lines and columns from 1, the end excluded
		StartLine   int        `json:"startLine"`
		StartColumn int        `json:"startColumn"`
		EndLine     int        `json:"endLine"`
		EndColumn   int        `json:"endColumn"`
		Snippet     *sarifText `json:"snippet,omitempty"`
	}
	sarifSuppression struct { // 3.35
		Kind          string `json:"kind"`
		Status        string `json:"status"`
		Justification string `json:"justification"`
	}
)

const (
	home       = "https://github.com/ktxhq/ktx"
	sourceRoot = "%SRCROOT%"
	// maxSnippet is the most bytes of a finding's text that a log repeats.
	maxSnippet = 1 << 10
)

// writeSARIF writes a log of the Static Analysis Results Interchange Format.
func writeSARIF(w io.Writer, c *Check) error {
	rules := Rules()
	index := map[sqlguard.Code]int{}
	run := sarifRun{
		Tool: sarifTool{sarifDriver{
			Name: "ktx", FullName: "ktx " + c.Version, Organization: "ktx", Version: c.Version, InformationURI: home, Rules: make([]sarifRule, 0, len(rules)),
		}},
		AutomationDetails: sarifAutomation{"ktx-sql-check/"},
		Invocations:       []sarifInvocation{{c.Summary.NotChecked == 0}},
		ColumnKind:        "unicodeCodePoints",
		BaseIDs:           map[string]sarifURI{sourceRoot: {&sarifText{Text: "the folder in which the check was run"}}},
		Results:           []sarifResult{},
	}
	for i, rule := range rules {
		index[rule.Code] = i
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRuleOf(rule))
	}
	baseline := c.Summary.Baseline > 0
	for i := range c.Files {
		file := &c.Files[i]
		names := identities(file)
		for j := range file.Findings {
			r := sarifResultOf(file, &file.Findings[j], names[j], baseline)
			r.RuleIndex = index[file.Findings[j].Code]
			run.Results = append(run.Results, r)
		}
	}
	e := encoder(w)
	e.SetIndent("", "  ")
	return e.Encode(sarifLog{"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", []sarifRun{run}}) //nolint:wrapcheck // Write says what it did
}

func sarifRuleOf(rule sqlguard.CodeInfo) sarifRule {
	severity, help := DefaultSeverity(rule.Code), Help(rule)
	r := sarifRule{
		ID: string(rule.Code), Name: pascal(string(rule.Code)),
		ShortDescription: sarifText{Text: rule.Title + "."}, FullDescription: sarifText{Text: rule.Summary},
		Help: sarifText{Text: plainHelp(help), Markdown: help}, HelpURI: home + "/blob/main/docs/evidence/codes.md#" + string(rule.Code),
		Default: sarifLevel{string(severity)},
		Properties: sarifProperties{Tags: []string{"sql"}, Precision: "high", Problem: map[Severity]string{
			SeverityError: "error", SeverityWarning: "warning", SeverityNote: "recommendation",
		}[severity]},
	}
	if rule.Family == sqlguard.FamilyGuard {
		r.Properties.Tags = []string{"security", "sql"}
		r.Properties.Security = "7.0"
	}
	return r
}

func sarifResultOf(file *File, f *Finding, name string, baseline bool) sarifResult {
	artifact := sarifArtifact{URI: reference(file.Path), Base: sourceRoot}
	if strings.HasPrefix(artifact.URI, "file:") {
		artifact.Base = ""
	}
	r := sarifResult{
		RuleID: string(f.Code), Level: string(f.Severity), Message: sarifText{Text: sarifMessage(sentence(f.advicePlain()))},
		Locations: []sarifLocation{{sarifPhysical{artifact, sarifRegion{
			StartLine: f.Line, StartColumn: f.Column, EndLine: f.EndLine, EndColumn: f.EndColumn, Snippet: sarifSnippet(file, f),
		}}}},
		Fingerprints: map[string]string{"ktxFinding/v1": name},
	}
	if f.Fingerprint != "" {
		r.Fingerprints["ktxStatement/v1"] = f.Fingerprint
	}
	if baseline {
		r.BaselineState = "new"
	}
	switch f.State {
	case StateSuppressed:
		r.Suppressions = []sarifSuppression{{"inSource", "accepted", f.Suppression.Reason + " (until " + f.Suppression.Until + ")"}}
	case StateBaseline:
		r.BaselineState = "unchanged"
	}
	return r
}

// advicePlain returns the message with its hint.
func (f *Finding) advicePlain() string {
	if f.Hint == "" {
		return f.Message
	}
	return f.Message + ". Hint: " + f.Hint
}

var (
	sarifLinks       = strings.NewReplacer(`\`, `\\`, "[", `\[`, "]", `\]`)
	sarifPlaceholder = regexp.MustCompile(`\{\d+\}`)
	sarifBraces      = strings.NewReplacer("{", "{{", "}", "}}")
)

// sarifMessage returns text as a message that has no link (3.11.6) and no
// placeholder (3.11.5).
func sarifMessage(text string) string {
	text = sarifLinks.Replace(printable(text))
	if sarifPlaceholder.MatchString(text) {
		text = sarifBraces.Replace(text)
	}
	return text
}

// snippet returns the text of a span, or nothing if it is too long.
func snippet(text string, span sqlguard.Span) string {
	if span.Start < 0 || span.End > len(text) || span.Start >= span.End || span.End-span.Start > maxSnippet {
		return ""
	}
	return text[span.Start:span.End]
}

// sarifSnippet returns the text of a finding, or nil if it is empty or too long.
func sarifSnippet(file *File, f *Finding) *sarifText {
	text := snippet(file.Text, f.Span)
	if file.Text == "" && f.Quoted != nil {
		text = f.Quoted.Snippet
	}
	if text == "" {
		return nil
	}
	return &sarifText{Text: text}
}

// reference returns a path as a URI reference (RFC 3986): relative to the
// folder of the check, or with the scheme file.
func reference(name string) string {
	if filepath.IsAbs(filepath.FromSlash(name)) {
		p := path.Clean(name)
		if !strings.HasPrefix(p, "/") { // a drive of Windows
			p = "/" + p
		}
		return (&url.URL{Scheme: "file", Path: p}).String()
	}
	parts := strings.Split(name, "/")
	for i, p := range parts {
		parts[i] = url.PathEscape(p)
	}
	ref := strings.Join(parts, "/")
	if first, _, _ := strings.Cut(ref, "/"); strings.Contains(first, ":") { // it would be read as a scheme
		ref = "./" + ref
	}
	return ref
}

// sentence returns text with a full stop at its end.
func sentence(text string) string {
	if strings.HasSuffix(text, ".") || strings.HasSuffix(text, "…") {
		return text
	}
	return text + "."
}

// pascal converts write_in_cte to WriteInCte.
func pascal(code string) string {
	var b strings.Builder
	for word := range strings.SplitSeq(code, "_") {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String()
}
