package audit

import (
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/wiring"
	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/audit"
	"github.com/ktxhq/ktx/sqlguard"
)

// conditions are the flags that choose events or statements.
type conditions struct {
	audit.Filter
	types        []string
	since, until string
}

// addCommon adds the flags that tail, query and export share.
func (f *conditions) addCommon(a *console.App, c *cobra.Command) {
	flags := c.Flags()
	flags.StringSliceVar(&f.types, "event", nil, "only events of these types, such as query.decision")
	flags.StringVarP(&f.Connection, "connection", "c", "", "only this connection")
	flags.StringVar(&f.Principal, "principal", "", "only this principal")
	flags.StringVar(&f.Reason, "reason", "", "only events with this reason, such as unknown_connection")
	flags.StringVar(&f.Address, "address", "", "only this address of a client, with or without its port")
	flags.StringVar(&f.Verdict, "verdict", "", "only decisions: allow or reject")
	flags.StringVar(&f.Code, "code", "", "only events with this code")
	f.addSince(c)
	complete(c, "event", names(audit.Types()))
	complete(c, "verdict", verdicts)
	complete(c, "code", console.CodeNames())
	_ = c.RegisterFlagCompletionFunc("connection", wiring.CompleteConnections(a))
}

func (f *conditions) addSince(c *cobra.Command) {
	c.Flags().StringVar(&f.since, "since", "", "only from this time on: 2026-03-01, 2026-03-01T12:00:00Z, or 1h, 2d, 1w ago")
}

// addAll adds all flags, which query and export have.
func (f *conditions) addAll(a *console.App, c *cobra.Command) {
	f.addCommon(a, c)
	flags := c.Flags()
	flags.StringVar(&f.until, "until", "", "only before this time, written like --since")
	flags.StringVar(&f.Client, "client", "", "only this client, by the name it gives itself")
	flags.StringVar(&f.Session, "session", "", "only this session, by its id in the log")
	flags.StringVar(&f.QueryID, "query-id", "", "only the statement with this id")
	flags.StringVar(&f.Status, "status", "", "only statements that ended so: "+strings.Join(statuses, ", "))
	flags.StringVar(&f.Kind, "kind", "", "only this kind of statement, such as select")
	flags.StringVar(&f.Fingerprint, "fingerprint", "", "only statements with this fingerprint, which does not depend on literals")
	flags.StringVar(&f.Table, "table", "", "only statements that name this table")
	flags.StringVar(&f.Function, "function", "", "only statements that call this function")
	flags.StringVar(&f.Text, "text", "", "only statements that contain this text; literals are not searched")
	flags.Int64Var(&f.MinRows, "min-rows", 0, "only results of at least this many rows")
	flags.Float64Var(&f.MinExecMS, "min-ms", 0, "only executions of at least this many milliseconds")
	complete(c, "status", statuses)
	complete(c, "kind", kinds)
}

func complete(c *cobra.Command, flag string, values []string) {
	_ = c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}

var (
	verdicts = []string{audit.VerdictAllow, audit.VerdictReject}
	statuses = []string{
		audit.StatusOK, audit.StatusError, audit.StatusCancelled, audit.StatusCrashed, audit.StatusRefused, audit.StatusUnfinished, audit.StatusUndecided,
	}
	// kinds are the kinds of statements that the guard can allow. A refused
	// statement may be of another kind.
	kinds = names([]sqlguard.Verb{
		sqlguard.VerbSelect, sqlguard.VerbValues, sqlguard.VerbTable, sqlguard.VerbShow, sqlguard.VerbExplain, sqlguard.VerbDescribe,
		sqlguard.VerbPragma,
	})
)

// names returns a list of names as strings.
func names[T ~string](list []T) []string {
	out := make([]string, len(list))
	for i, n := range list {
		out[i] = string(n)
	}
	return out
}

// resolve checks the values of the flags and makes the filter from them.
func (f *conditions) resolve(c *cobra.Command, now time.Time) error {
	given := func(flag string) bool { return c.Flags().Lookup(flag) != nil && c.Flags().Changed(flag) }
	for _, choice := range []struct {
		flag, value string
		known       []string
	}{
		{"verdict", f.Verdict, verdicts}, {"code", f.Code, console.CodeNames()}, {"status", f.Status, statuses},
	} {
		if given(choice.flag) {
			if err := oneOfKnown("--"+choice.flag, choice.value, choice.known); err != nil {
				return err
			}
		}
	}
	f.Types = nil
	for _, t := range f.types {
		if err := oneOfKnown("--event", t, names(audit.Types())); err != nil {
			return err
		}
		f.Types = append(f.Types, audit.Type(t))
	}
	if f.MinRows < 0 {
		return console.Usage("--min-rows %d: expected at least 0", f.MinRows)
	}
	if !(f.MinExecMS >= 0) { // NaN too
		return console.Usage("--min-ms %v: expected at least 0", f.MinExecMS)
	}
	var err error
	if given("since") {
		if f.Since, err = moment("--since", f.since, now); err != nil {
			return err
		}
	}
	if given("until") {
		if f.Until, err = moment("--until", f.until, now); err != nil {
			return err
		}
	}
	if !f.Until.IsZero() && !f.Until.After(f.Since) {
		return console.Usage("--until must be later than --since")
	}
	return nil
}

// oneOfKnown is [console.OneOf] with the nearest known value in its message.
func oneOfKnown(flag, value string, values []string) error {
	if slices.Contains(values, value) {
		return nil
	}
	near := execution.Nearest(value, values)
	switch {
	case near != "":
		return console.Usage("%s %s: no such value; did you mean %s?", flag, console.EscapeControls(value), near)
	case len(values) > 15:
		return console.Usage("%s %s: no such value", flag, console.EscapeControls(value))
	default:
		return console.OneOf(flag, value, values)
	}
}

// moment reads a time of a flag.
func moment(flag, text string, now time.Time) (time.Time, error) {
	t, err := audit.ParseTime(text, now)
	if err != nil {
		return t, console.Usage("%s %s: %w", flag, console.EscapeControls(text), err)
	}
	return t, nil
}
