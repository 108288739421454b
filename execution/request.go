package execution

// Request is one statement to run.
type Request struct {
	ConnectionID string
	SQL          string
	// Limits are the limits of the caller; each is cut to the limit of the
	// connection.
	Limits Limits
	// OnStage, when set, is called as the statement advances, in order and from
	// the goroutine that called Query. When a stage fails, Query announces no
	// further stage.
	OnStage func(Stage)
}

// Stage is how far a statement has come.
type Stage int

// The stages of a statement.
const (
	StageValidating Stage = iota // the guard judges the statement
	StageExecuting               // the gateway sends the statement to the backend
)

func (r *Request) stage(s Stage) {
	if r.OnStage != nil {
		r.OnStage(s)
	}
}
