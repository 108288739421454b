package execution

// Request is one statement to run.
type Request struct {
	ConnectionID string
	SQL          string
	// Limits are the caller's; each is cut to the connection's.
	Limits Limits
	// OnStage, when set, is called as the statement advances, in order and
	// from the goroutine that called Query. After a stage that fails no
	// further stage is announced.
	OnStage func(Stage)
}

// Stage is how far a statement has come.
type Stage int

// The stages of a statement.
const (
	StageValidating Stage = iota // the guard is being asked
	StageExecuting               // the statement is being sent
)

func (r *Request) stage(s Stage) {
	if r.OnStage != nil {
		r.OnStage(s)
	}
}
