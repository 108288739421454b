package research

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/research/semantic"
	"github.com/ktxhq/ktx/research/semantic/emit"
	"github.com/ktxhq/ktx/research/semantic/plan"
	"github.com/ktxhq/ktx/sqlguard"
)

// SLQueryInput is the input of sl_query.
type SLQueryInput struct {
	ConnectionID string        `json:"connectionId"` // "": the only connection
	Measures     []SLMeasure   `json:"measures"`
	Dimensions   []SLDimension `json:"dimensions"`
	Filters      []string      `json:"filters"`
	Segments     []string      `json:"segments"`
	OrderBy      []SLOrder     `json:"order_by"`
	// Limit is the most rows. Nil means DefaultMaxRows. 0 returns headers only.
	Limit *int `json:"limit"`
	// IncludeEmpty adds the members of dimensions that have no rows. Nil means true.
	IncludeEmpty *bool `json:"include_empty"`
	// Include names what the answer has besides rows: sql, plan.
	Include []string `json:"include"`
	// MaxBytes is the most bytes of the answer as JSON. 0 means DefaultMaxBytes.
	MaxBytes int64 `json:"maxBytes"`

	// OnStage is called at each stage of the call. It may be nil.
	OnStage func(SLStage) `json:"-"`
}

// SLMeasure is a measure by name, or an expression with a name. As JSON it may be a
// string.
type SLMeasure struct {
	Expr string `json:"expr"`
	Name string `json:"name"`
}

// SLDimension is a column, with a granularity if it is a time. As JSON it may be a
// string.
type SLDimension struct {
	Field       string `json:"field"`
	Granularity string `json:"granularity"`
}

// SLOrder is one key of the order. As JSON it may be a string.
type SLOrder struct {
	Field     string `json:"field"`
	Direction string `json:"direction"` // asc, desc, or empty for asc
}

// SLStage is how far a call of sl_query has come.
type SLStage int

// The stages of sl_query.
const (
	SLCompiling SLStage = iota
	SLGenerating
	SLExecuting
)

// SLQueryOutput is the answer of sl_query. Rows are positional.
type SLQueryOutput struct {
	ConnectionID string
	Dialect      string
	Table        *SQLExecutionOutput
	Notes        []string
	SQL          string            // "" unless it was asked for
	Plan         *plan.Description // nil unless it was asked for
}

// policyCodes are the refusals of compiled SQL that the rules of a connection may cause.
// Any other refusal is a fault of the compiler.
var policyCodes = []sqlguard.Code{
	sqlguard.CodeRelationNotAllowed, sqlguard.CodeColumnNotAllowed, sqlguard.CodeFunctionNotAllowed, sqlguard.CodeInputTooLarge,
	sqlguard.CodeUnresolvedObject, // a rule could apply to what the name stands for
}

// SLQuery answers a request for measures by dimensions. The error is an [*expr.Error] if
// the request or the model is wrong, and else that of [execution.Gateway.Query].
func (s *Service) SLQuery(ctx context.Context, in SLQueryInput) (*SLQueryOutput, error) {
	stage := in.OnStage
	if stage == nil {
		stage = func(SLStage) {}
	}
	stage(SLCompiling)
	info, err := s.semanticConnection(ctx, in.ConnectionID)
	if err != nil {
		return nil, err
	}
	asked := 0 // a limit that the caller did not give is lowered without a word
	if in.Limit != nil {
		asked = *in.Limit
	}
	limit, note := capped("limit", int64(asked), int64(in.limit()), int64(info.Limits.Rows))
	compiled, err := s.compile(ctx, info, &in, oneMore(int(limit)))
	if err != nil {
		return nil, err
	}
	stage(SLGenerating)
	if err := s.sameTables(ctx, info, compiled); err != nil {
		return nil, err
	}
	out := &SLQueryOutput{ConnectionID: info.ID, Dialect: info.Dialect, Notes: append(note, compiled.Plan.Notes...)}
	if slices.Contains(in.Include, "sql") {
		out.SQL = compiled.SQL
	}
	if slices.Contains(in.Include, "plan") {
		out.Plan = compiled.Describe()
	}
	size, note := capped("maxBytes", in.MaxBytes, DefaultMaxBytes, info.Limits.Bytes)
	out.Notes = append(out.Notes, note...)
	res, err := s.gateway.Query(ctx, execution.Request{
		ConnectionID: info.ID, SQL: compiled.SQL, Limits: execution.Limits{Rows: int(limit), Bytes: size},
		OnStage: func(at execution.Stage) {
			if at == execution.StageExecuting {
				stage(SLExecuting)
			}
		},
	})
	if err != nil {
		return nil, ownSQL(err)
	}
	out.Table = tableOf(res)
	rest := int64(len(out.appendTail(out.appendHead(nil))))
	if rest >= size {
		return nil, execution.NewError(sqlguard.CodeInvalidArguments, fmt.Sprintf("maxBytes is %d, and the parts of the answer besides its rows have %d; leave plan or sql out of include, or raise maxBytes", size, rest), nil)
	}
	note = out.Table.fit(res, size-rest)
	if out.Table.Truncated && out.Table.TruncatedBy == execution.TruncatedByRows {
		// The note of the result is about SQL, which the caller did not write.
		note = []string{fmt.Sprintf("more rows exist than the limit of %d; raise limit, or ask for fewer groups", limit)}
	}
	out.Notes = append(out.Notes, note...)
	return out, nil
}

func (in *SLQueryInput) limit() int {
	if in.Limit == nil {
		return DefaultMaxRows
	}
	return *in.Limit
}

// oneMore returns a limit by which a result tells whether more rows exist.
func oneMore(limit int) int {
	if limit > 0 {
		return limit + 1
	}
	return limit
}

// request returns the request in the compiler's form.
func (in *SLQueryInput) request(limit int) plan.Request {
	r := plan.Request{Filters: in.Filters, Segments: in.Segments, Limit: limit, NoEmpty: in.IncludeEmpty != nil && !*in.IncludeEmpty}
	for _, m := range in.Measures {
		r.Measures = append(r.Measures, plan.MeasureRequest(m))
	}
	for _, d := range in.Dimensions {
		r.Dimensions = append(r.Dimensions, plan.DimensionRequest(d))
	}
	for _, o := range in.OrderBy {
		r.OrderBy = append(r.OrderBy, plan.OrderRequest{Field: o.Field, Desc: o.Direction == "desc"})
	}
	return r
}

// compile turns the request into SQL of the connection's engine.
func (s *Service) compile(ctx context.Context, info execution.ConnectionInfo, in *SLQueryInput, limit int) (*semantic.Compiled, error) {
	found, err := s.semanticLayer(ctx, info)
	if err != nil {
		return nil, err
	}
	if len(found.Model().Sources) == 0 {
		return nil, noModel(info)
	}
	compiled, refused := found.Compile(in.request(limit), emit.Dialect(info.Dialect))
	if refused != nil {
		return nil, refused
	}
	compiled.Verified = s.stores.Load().Semantic.Verified(found)
	return compiled, nil
}

// sameTables refuses compiled SQL that reads other tables than those of the sources in
// its plan. The guard says what each of them reads.
func (s *Service) sameTables(ctx context.Context, info execution.ConnectionInfo, c *semantic.Compiled) error {
	v, err := s.gateway.Check(ctx, info.ID, c.SQL)
	if err != nil {
		return err
	}
	if !v.Allowed {
		return ownSQL(&sqlguard.RejectedError{Verdict: v})
	}
	var expected []string
	for _, text := range c.Tables {
		part, err := s.gateway.Check(ctx, info.ID, text)
		if err != nil {
			return err
		}
		if !part.Allowed {
			return ownSQL(&sqlguard.RejectedError{Verdict: part})
		}
		expected = append(expected, relationNames(part)...)
	}
	slices.Sort(expected)
	expected = slices.Compact(expected)
	if got := relationNames(v); !slices.Equal(got, expected) {
		return execution.NewError(sqlguard.CodeInternalError, "the compiled SQL reads other tables than its sources", fmt.Errorf("it reads %q, and the sources are of %q", got, expected))
	}
	return nil
}

// ownSQL returns the error of a statement that the caller did not write. A refusal that
// no rule of the connection can cause is a fault of the compiler.
func ownSQL(err error) error {
	r, ok := errors.AsType[*sqlguard.RejectedError](err)
	if !ok || slices.Contains(policyCodes, r.Verdict.Code) {
		return err
	}
	return execution.NewError(sqlguard.CodeInternalError, "the SQL that was compiled from the request is refused: "+string(r.Verdict.Code),
		errors.New(r.Error())) // not err itself: the client would be told of it as of its own statement
}

var _ appender = (*SLQueryOutput)(nil)

// AppendJSON appends the answer as one JSON object, with numbers as the server wrote
// them.
func (o *SLQueryOutput) AppendJSON(b []byte) []byte {
	b = o.appendHead(b)
	for i, row := range o.Table.Rows {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendRow(b, row)
	}
	return o.appendTail(b)
}

func (o *SLQueryOutput) appendHead(b []byte) []byte {
	text := func(b []byte, s string) []byte {
		return execution.Value{Kind: execution.String, Text: s}.AppendJSON(b)
	}
	b = text(append(b, `{"connectionId":`...), o.ConnectionID)
	b = text(append(b, `,"dialect":`...), o.Dialect)
	b = appendStrings(append(b, `,"headers":`...), o.Table.Headers)
	if o.Table.HeaderTypes != nil {
		b = appendStrings(append(b, `,"headerTypes":`...), o.Table.HeaderTypes)
	}
	return append(b, `,"rows":[`...)
}

func (o *SLQueryOutput) appendTail(b []byte) []byte {
	b = strconv.AppendInt(append(b, `],"totalRows":`...), int64(len(o.Table.Rows)), 10)
	b = strconv.AppendBool(append(b, `,"truncated":`...), o.Table.Truncated)
	if len(o.Notes) > 0 {
		b = appendStrings(append(b, `,"notes":`...), o.Notes)
	}
	if o.SQL != "" {
		b = execution.Value{Kind: execution.String, Text: o.SQL}.AppendJSON(append(b, `,"sql":`...))
	}
	if o.Plan != nil {
		if text, err := compactJSON(o.Plan); err == nil { // texts and numbers never fail
			b = append(append(b, `,"plan":`...), text...)
		}
	}
	return append(b, '}')
}

// handleSLQuery is [Service.SLQuery] with progress notifications.
func (s *Service) handleSLQuery(ctx context.Context, c *toolCall, in SLQueryInput) (*SLQueryOutput, error) {
	in.OnStage = func(stage SLStage) {
		switch stage {
		case SLCompiling:
			c.progress(ctx, 0, "Compiling query")
		case SLGenerating:
			c.progress(ctx, 0.3, "Generating SQL")
		case SLExecuting:
			c.progress(ctx, 0.6, "Executing")
		}
	}
	out, err := s.SLQuery(ctx, in)
	if err != nil {
		return nil, err
	}
	c.progress(ctx, 1, fmt.Sprintf("Fetched %d rows", len(out.Table.Rows)))
	out.Notes = append(slices.Clip(c.notes), out.Notes...)
	c.notes, c.noted = out.Notes, true
	return out, nil
}

// UnmarshalJSON accepts a string for the expression.
func (m *SLMeasure) UnmarshalJSON(b []byte) error {
	type object SLMeasure
	return textOr(b, &m.Expr, (*object)(m))
}

// UnmarshalJSON accepts a string for the field.
func (d *SLDimension) UnmarshalJSON(b []byte) error {
	type object SLDimension
	return textOr(b, &d.Field, (*object)(d))
}

// UnmarshalJSON accepts a string for the field.
func (o *SLOrder) UnmarshalJSON(b []byte) error {
	type object SLOrder
	return textOr(b, &o.Field, (*object)(o))
}

// textOr decodes b into text if it is a string, and else into object.
func textOr(b []byte, text *string, object any) error {
	if strings.HasPrefix(string(b), `"`) {
		return json.Unmarshal(b, text)
	}
	return json.Unmarshal(b, object)
}
