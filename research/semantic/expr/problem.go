package expr

import "fmt"

// Class names what is wrong with a model or a request. The values are part of the
// answers of the tools.
type Class string

// The classes of requests.
const (
	UnknownSource        Class = "unknown_source"
	UnknownField         Class = "unknown_field"
	UnknownMeasure       Class = "unknown_measure"
	UnknownSegment       Class = "unknown_segment"
	UnknownOrderBy       Class = "unknown_order_by"
	AmbiguousField       Class = "ambiguous_field"
	AmbiguousJoinPath    Class = "ambiguous_join_path"
	Disconnected         Class = "disconnected"
	FanOut               Class = "fan_out"
	FilterNotApplicable  Class = "filter_not_applicable"
	SegmentNotApplicable Class = "segment_not_applicable"
	MixedFilter          Class = "mixed_filter"
	NotAnAggregate       Class = "not_an_aggregate"
	NestedAggregate      Class = "nested_aggregate"
	WindowFunction       Class = "window_function"
	CircularMeasure      Class = "circular_measure"
	InvalidGranularity   Class = "invalid_granularity"
	HiddenField          Class = "hidden_field"
	InvalidRequest       Class = "invalid_request"
	UnsafeExpression     Class = "unsafe_expression"
	UnsupportedInDialect Class = "unsupported_in_dialect"
)

// The classes of models. A problem of a model may carry a class of requests too.
const (
	InvalidSource   Class = "invalid_source"
	InvalidGrain    Class = "invalid_grain"
	InvalidJoin     Class = "invalid_join"
	JoinNotOnGrain  Class = "join_not_on_grain"
	InvalidColumn   Class = "invalid_column"
	InvalidMeasure  Class = "invalid_measure"
	InvalidSegment  Class = "invalid_segment"
	CircularColumn  Class = "circular_column"
	DuplicateName   Class = "duplicate_name"
	UnknownKey      Class = "unknown_key"
	UnsafeSQLSource Class = "unsafe_sql_source"
)

// Error is a refusal that names what is wrong and what to write instead.
type Error struct {
	Class   Class
	Message string   // what is wrong in this text
	Hint    string   // what to write instead; may be empty
	Pos     int      // byte offset in the text, or -1
	Near    []string // up to three names that may have been meant
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %s", e.Class, e.Message) }
