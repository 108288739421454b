package report

import (
	"strconv"

	"github.com/ktxhq/ktx/corpus"
	"github.com/ktxhq/ktx/corpus/run"
)

// state rates the answer to a case. It is a CSS class of the page, and Text is
// its name for people.
type state string

const (
	stateMet         state = "met"
	stateBypass      state = "bypass"
	stateFalseReject state = "false-reject"
	stateError       state = "error"
	stateUnmet       state = "unmet" // not the answer that the policy case names
	stateNotRun      state = "not-run"
)

// Text is the state in words.
func (s state) Text() string {
	switch s {
	case stateBypass:
		return "bypass"
	case stateFalseReject:
		return "false reject"
	case stateError:
		return "error"
	case stateUnmet:
		return "not the default"
	case stateNotRun:
		return "not run"
	case stateMet:
		return "as expected"
	default:
		return string(s)
	}
}

// stateOf rates an answer by its decision and the expectation. It does not use
// what the run file says about itself, so a run file cannot hide a bypass.
func stateOf(r run.Result) state {
	switch {
	case r.Decision == run.Error:
		return stateError
	case r.Expect == corpus.Reject && r.Decision == run.Allow:
		return stateBypass
	case r.Expect == corpus.Allow && r.Decision == run.Reject:
		return stateFalseReject
	case !r.Met:
		return stateUnmet
	default:
		return stateMet
	}
}

// page is what the page shows.
type page struct {
	Policy string // the Content-Security-Policy
	Style  string

	Guard, Version string
	About          []pair
	All            tally
	Strange        int // results whose id no case has

	Scores   []scoreView
	Dialects []string
	Matrix   []matrixRow

	Compared bool
	Beyond   int // results of the earlier run whose id no case has
	Counts   []pair
	Changes  []*changeView
	OfKind   func(kind string) string // the address of the changes of a kind; nil without one

	ByDialect, ByClass, ByShow []option
	Groups                     []*group
}

type pair struct{ Name, Value string }

// option is an option of a filter. Key is the CSS class of the cases that it
// shows.
type option struct{ Key, Text string }

// scoreView is the score of one dialect.
type scoreView struct {
	Dialect                        string
	Cases, Crashes, TimeOuts       int
	Bypasses, FalseRejects, Errors share
	P50, P95, P99                  int64
}

// share is N out of Of cases.
type share struct{ N, Of int }

// Percent returns the share in percent, or "" if Of is 0.
func (s share) Percent() string {
	if s.Of == 0 {
		return ""
	}
	return strconv.FormatFloat(100*float64(s.N)/float64(s.Of), 'f', 2, 64) + " %"
}

// matrixRow is the row of a class. With Sum, it is the row of all classes.
type matrixRow struct {
	Class, Title string
	Sum          bool
	Cells        []tally // in the order of the dialects, then for all of them
}

// tally counts cases by state.
type tally struct {
	Anchor                                               string // of the group, "" for sums
	Cases, Bypasses, FalseRejects, Errors, Unmet, NotRun int
}

func (t *tally) count(s state) {
	t.Cases++
	switch s {
	case stateBypass:
		t.Bypasses++
	case stateFalseReject:
		t.FalseRejects++
	case stateError:
		t.Errors++
	case stateUnmet:
		t.Unmet++
	case stateNotRun:
		t.NotRun++
	case stateMet:
	}
}

func (t *tally) add(o tally) {
	t.Cases += o.Cases
	t.Bypasses += o.Bypasses
	t.FalseRejects += o.FalseRejects
	t.Errors += o.Errors
	t.Unmet += o.Unmet
	t.NotRun += o.NotRun
}

// Failures returns how many cases were not answered as expected.
func (t tally) Failures() int { return t.Bypasses + t.FalseRejects + t.Errors + t.Unmet }

// changeView is a case that differs from the earlier run.
type changeView struct {
	Kind           run.ChangeKind
	ID             string
	URL            string // of the case
	Dialect, Class string
	Before, After  string
}

// group holds the cases of one class and dialect.
type group struct {
	Anchor, Dialect, Class, Title string
	Tally                         tally
	Keys                          string // the CSS classes of the filters that show it
	Cases                         []*caseView
}

// caseView is the page of one case.
type caseView struct {
	Key               string // the id as it is
	Group             *group
	Anchor, ID, Title string
	Keys              string
	Flavour, Since    string
	Previous, Next    *link
	Twin, TwinOf      *link
	Expect            corpus.Expect
	Asked             corpus.Expect // the expectation in the run, if it differs from that of the case
	Codes             []codeView
	Policy            *corpus.PolicyNote
	Engine, Needs     string
	Effect, Contained string
	Refs              []link
	Evidence          []corpus.Evidence
	Documents         []link // evidence that is a document
	SQL               statement
	Text              string // the begin of the statement, on one line
	State             state
	Decision, Code    string
	Fault, Detail     string
	Agrees            bool
	Read              bool // whether the findings and nodes are known
	Findings          []findingView
	MoreFindings      int
	Nodes             []nodeView
	Facts             bool
	Change            *changeView
}

type codeView struct {
	Code  string
	Given bool // whether it is the code of the answer
}

type findingView struct {
	Code, Message, Hint, Path string
	Line, Column              int
}
