package scan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/ktxhq/ktx/research/catalog"
	"github.com/ktxhq/ktx/research/dictionary"
	"github.com/ktxhq/ktx/research/scan/manifest"
	"github.com/ktxhq/ktx/research/scan/relate"
)

// Result is what a scan has done.
type Result struct {
	Report  catalog.Report
	Tables  int
	Columns int
	Rows    int64 // rows that were read for the profile, in this run and the runs before
	Resumed int   // tables that a run before had profiled
	// Changes are the tables that are not as in the scan before, sorted by name. There are
	// none if there was no scan.
	Changes []Change
}

// StoppedError says that a scan ended before it was done. What it has is kept, and the
// next scan goes on from there.
type StoppedError struct {
	ConnectionID  string
	Tables, Total int   // tables that are profiled
	Budget        bool  // the budget is used up; otherwise the scan was interrupted or failed
	Err           error // the cause
}

// Error says how far the scan is and how to continue.
func (e *StoppedError) Error() string {
	why := "it was interrupted"
	if e.Budget {
		why = "its budget (scan.budget) is used up"
	} else if !errors.Is(e.Err, context.Canceled) {
		why = e.Err.Error()
	}
	done := ""
	if e.Total > 0 {
		done = fmt.Sprintf("; %d of %d tables are profiled", e.Tables, e.Total)
	}
	return fmt.Sprintf("the scan of %s stopped: %s%s. Run ktx scan %s again to continue", e.ConnectionID, why, done, e.ConnectionID)
}

// Unwrap returns the cause.
func (e *StoppedError) Unwrap() error { return e.Err }

// scanner is one run.
type scanner struct {
	*profiler
	journal *journal
	result  Result

	mu       sync.Mutex
	progress Progress
	profiles map[catalog.Ref]*tableProfile
}

// errBudget is the cause of the end of a context whose scan has used up its budget.
var errBudget = errors.New("the budget of the scan is used up")

// Run scans a connection and writes the artifacts. A scan that cannot go on, is
// interrupted or has used up its budget returns a *[StoppedError]. Its error for a
// connection that cannot be used is that of the gateway.
func Run(ctx context.Context, options Options) (*Result, error) {
	o := options.withDefaults()
	e, ok := engines[o.Connection.Dialect]
	if !ok {
		return nil, fmt.Errorf("scan %s: ktx cannot scan %s; the tools serve artifacts that another program writes for it", o.Connection.ID, cmp.Or(o.Connection.Engine, o.Driver))
	}
	for key, p := range map[string]Patterns{"include": o.Include, "exclude": o.Exclude} {
		if err := p.Validate(); err != nil {
			return nil, fmt.Errorf("scan.values.%s: %w", key, err)
		}
	}
	s := &scanner{
		profiler: &profiler{engine: e, asker: newAsker(o.Gateway, o.Connection, o.Concurrency), options: &o},
		profiles: map[catalog.Ref]*tableProfile{},
	}
	running, cancel := context.WithTimeoutCause(ctx, o.Budget, errBudget)
	defer cancel()
	result, err := s.run(running)
	if s.journal != nil {
		err = errors.Join(err, s.closeJournal(err == nil))
	}
	if err == nil {
		return result, nil
	}
	budget := errors.Is(context.Cause(running), errBudget)
	if s.journal != nil && (budget || ctx.Err() != nil || lost(err) && s.progress.Total > 0) {
		return nil, &StoppedError{ConnectionID: o.Connection.ID, Tables: s.progress.Tables, Total: s.progress.Total, Budget: budget, Err: err}
	}
	return nil, fmt.Errorf("scan %s: %w", o.Connection.ID, err)
}

func (s *scanner) closeJournal(done bool) error {
	if done {
		return s.journal.finish()
	}
	return s.journal.close()
}

// step reports progress.
func (s *scanner) step(change func(*Progress)) {
	s.mu.Lock()
	change(&s.progress)
	now := s.progress
	s.mu.Unlock()
	s.options.OnProgress(now)
}

func (s *scanner) run(ctx context.Context) (*Result, error) {
	o := s.options
	if !o.DryRun {
		if err := s.open(); err != nil {
			return nil, err
		}
	}
	s.step(func(p *Progress) { p.Stage = StageStructure })
	found, err := s.structure(ctx, s.asker, scope{schemas: o.Schemas, databases: o.Databases})
	if err != nil {
		return nil, err
	}
	s.permit(found)
	before, last, err := previous(o.Root, o.Connection.ID)
	if err != nil {
		return nil, fmt.Errorf("read the scan before: %w", err)
	}
	s.result.Tables = len(found.tables)
	for _, t := range found.tables {
		s.result.Columns += len(t.Columns)
	}
	report := s.report(found)
	report.DiffSummary = diff(before, found.tables)
	if last != "" {
		s.result.Changes = changes(before, found.tables, o.Readable)
	}
	report.Warnings = found.warnings
	if o.DryRun {
		s.result.Report = report
		return &s.result, nil
	}
	f := &findings{structure: found}
	if !o.NoProfile {
		if err := s.profile(ctx, found.tables); err != nil {
			return nil, err
		}
		f.profile = profileOf(o, report.Driver, found.tables, s.profiles)
		s.counted(found.tables)
	}
	if f.relationships, err = s.relationships(ctx, found.tables, f.profile); err != nil {
		return nil, err
	}
	s.step(func(p *Progress) { p.Stage = StageWriting })
	if f.warnings, err = s.commit(ctx, found); err != nil {
		return nil, err
	}
	s.profiles = nil // writing needs the memory
	report.Warnings = f.warnings
	report.Relationships = catalog.RelationshipCounts{
		Accepted: len(f.relationships.Accepted), Review: len(f.relationships.Review), Rejected: len(f.relationships.Rejected), Skipped: len(f.relationships.Skipped),
	}
	if err := s.write(f, &report); err != nil {
		return nil, err
	}
	// The values of the scan before serve readers if this scan is deleted.
	if err := dictionary.Prune(o.Root, o.Connection.ID, func(sync string) bool { return sync == report.SyncID || sync == last }); err != nil {
		return nil, fmt.Errorf("remove the values of older scans: %w", err)
	}
	s.result.Report = report
	return &s.result, nil
}

// open opens the journal and the store of values.
func (s *scanner) open() error {
	o := s.options
	if !runID.MatchString(o.RunID) {
		return fmt.Errorf("the id %q of the run is not made of letters and digits", o.RunID)
	}
	j, err := openJournal(o.Root, o.Connection.ID, newHeader(o.identity(), o.Now, o.RunID))
	if err != nil {
		return err
	}
	s.journal = j
	if o.OpenValues == nil || o.NoProfile {
		return nil
	}
	o.Values, err = o.OpenValues(j.header.SyncID)
	if err != nil {
		return fmt.Errorf("open the store of values: %w", err)
	}
	return nil
}

// permit removes what access rules deny, and puts everything in its order. Denied
// columns stay in the artifact, and are not read.
func (s *scanner) permit(found *structure) {
	r := s.options.Readable
	found.tables = slices.DeleteFunc(found.tables, func(t *table) bool { return !r.Relation(t.Ref().DB, t.Name) || len(t.Columns) == 0 })
	slices.SortFunc(found.tables, func(a, b *table) int { return compareRefs(a.Ref(), b.Ref()) })
	for _, t := range found.tables {
		for i := range t.Columns {
			if !r.Column(t.Ref().DB, t.Name, t.Columns[i].Name) {
				t.columns[i].readable = false
			}
		}
		t.ForeignKeys = slices.DeleteFunc(t.ForeignKeys, func(k catalog.ForeignKey) bool { return !r.Relation(k.To().DB, k.ToTable) })
		slices.SortStableFunc(t.ForeignKeys, func(a, b catalog.ForeignKey) int {
			return strings.Compare(*cmp.Or(a.ConstraintName, new(string)), *cmp.Or(b.ConstraintName, new(string)))
		})
	}
}

// report returns the report without what is found out later.
func (s *scanner) report(found *structure) catalog.Report {
	o := s.options
	report := catalog.Report{
		ConnectionID: o.Connection.ID, Driver: o.Driver, RunID: o.RunID, Trigger: "cli", Mode: "full", DryRun: o.DryRun,
		ArtifactPaths: map[string]string{}, CreatedAt: stamp(o.Now),
	}
	if o.NoProfile {
		report.Mode = "structure"
	}
	if s.journal != nil {
		report.SyncID, report.RunID = s.journal.header.SyncID, s.journal.header.RunID
		folder := syncFolder(o.Connection.ID, report.SyncID)
		report.ArtifactPaths = map[string]string{
			"rawSourcesDir": folder, "reportPath": folder + "/" + reportFile, "manifestDir": manifest.Folder(o.Connection.ID),
		}
		if !o.NoProfile {
			report.ArtifactPaths["profilePath"] = folder + "/enrichment/relationship-profile.json"
		}
		report.ArtifactPaths["relationshipsPath"] = folder + "/enrichment/relationships.json"
	}
	if found.warnings == nil {
		found.warnings = []catalog.Warning{}
	}
	return report
}

// profile profiles the tables that are not profiled yet, several at once if the
// options say so.
func (s *scanner) profile(ctx context.Context, tables []*table) error {
	s.step(func(p *Progress) { p.Stage, p.Total = StageProfile, len(tables) })
	work := make(chan *table)
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var group sync.WaitGroup
	for range s.options.Concurrency {
		group.Go(func() {
			for t := range work {
				if err := s.profileOne(ctx, t); err != nil {
					stop(err)
				}
			}
		})
	}
	for _, t := range tables {
		if p := s.kept(t); p != nil {
			s.profiled(p)
			s.mu.Lock()
			s.result.Resumed++
			s.mu.Unlock()
			continue
		}
		select {
		case work <- t:
			continue
		case <-ctx.Done():
		}
		break
	}
	close(work)
	group.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// kept returns the profile of a table that an earlier run has made, if the values of
// the table are kept too.
func (s *scanner) kept(t *table) *tableProfile {
	p := s.journal.table(t)
	if p == nil || s.options.Values != nil && len(p.Columns) > 0 && !s.options.Values.Finished(t.Ref()) {
		return nil
	}
	return p
}

func (s *scanner) profileOne(ctx context.Context, t *table) error {
	if ctx.Err() != nil {
		return nil //nolint:nilerr // another table has ended the scan, and has said why
	}
	p, err := s.table(ctx, t)
	if err != nil {
		return err
	}
	if err := s.journal.add(entry{Table: p}); err != nil {
		return err
	}
	s.profiled(p)
	return nil
}

func (s *scanner) profiled(p *tableProfile) {
	s.step(func(progress *Progress) {
		s.profiles[p.Table] = p
		s.result.Rows += p.Read
		progress.Tables++
		progress.Rows += p.Read
	})
}

// counted sets the row estimates to what was counted.
func (s *scanner) counted(tables []*table) {
	for _, t := range tables {
		if p := s.profiles[t.Ref()]; p != nil && p.Rows != nil {
			t.EstimatedRows = p.Rows
		}
	}
}

// relationships looks for relationships, with statements that compare values unless
// there is no profile.
func (s *scanner) relationships(ctx context.Context, tables []*table, profile *catalog.Profile) (catalog.Relationships, error) {
	s.step(func(p *Progress) { p.Stage = StageRelationships })
	in := relate.Input{ConnectionID: s.options.Connection.ID, Profile: profile, Extra: s.options.Joins}
	byRef := map[catalog.Ref]*table{}
	for _, t := range tables {
		in.Tables = append(in.Tables, s.permitted(t))
		byRef[t.Ref()] = t
	}
	if s.options.NoProfile {
		return relate.Find(ctx, in, nil)
	}
	p := &prober{profiler: s.profiler, journal: s.journal, tables: byRef, unique: map[string]target{}}
	found, err := relate.Find(ctx, in, p)
	if p.lost != nil {
		return found, p.lost
	}
	if err == nil {
		err = ctx.Err()
	}
	return found, err
}

// permitted returns the table without the columns that may not be read.
func (s *scanner) permitted(t *table) *catalog.Table {
	if !slices.Contains(t.readable(), false) {
		return &t.Table
	}
	out := t.Table
	out.Columns = nil
	known := map[string]bool{}
	for i, c := range t.Columns {
		if t.columns[i].readable {
			out.Columns = append(out.Columns, c)
			known[c.Name] = true
		}
	}
	out.ForeignKeys = slices.DeleteFunc(slices.Clone(t.ForeignKeys), func(k catalog.ForeignKey) bool { return !known[k.FromColumn] })
	return &out
}

// commit makes the values visible, and joins the warnings of the structure, of the
// profiles and of the store of values. Nothing ends the scan after it but an error of
// the disk.
func (s *scanner) commit(ctx context.Context, found *structure) ([]catalog.Warning, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	out := s.warnings(found)
	values := s.options.Values
	if values == nil {
		return out, nil
	}
	if err := values.Commit(); err != nil {
		return nil, fmt.Errorf("keep the values: %w", err)
	}
	for _, text := range values.Warnings() {
		out = append(out, catalog.Warning{Code: "values_lost", Message: text, Recoverable: true})
	}
	return out, nil
}

func (s *scanner) warnings(found *structure) []catalog.Warning {
	out := slices.Clone(found.warnings)
	var refused []string
	reason := ""
	for _, t := range found.tables {
		p := s.profiles[t.Ref()]
		if p == nil {
			continue
		}
		out = append(out, p.Warnings...)
		if p.Refused != "" {
			refused = append(refused, display(p.Table))
			reason = cmp.Or(reason, p.Refused)
		}
	}
	if len(refused) > 0 {
		out = append(out, catalog.Warning{Code: "profile_refused", Recoverable: true, Message: fmt.Sprintf(
			"the guard refuses to read these tables, so they have no profile (%d): %s. The reason for the first: %s", len(refused), list(refused), reason)})
	}
	return out
}

// write writes the artifacts and the manifest. Readers see the scan when its report
// is there, which is the last file.
func (s *scanner) write(f *findings, report *catalog.Report) error {
	o := s.options
	if err := removeUnfinished(o.Root, o.Connection.ID, report.SyncID); err != nil {
		return fmt.Errorf("remove what earlier scans left unfinished: %w", err)
	}
	tables := make([]*catalog.Table, 0, len(f.structure.tables))
	for _, t := range f.structure.tables {
		tables = append(tables, s.permitted(t))
	}
	shards, err := manifest.Build(tables, f.relationships.Accepted, s.quote)
	if err != nil {
		return err
	}
	if err := f.write(o, report); err != nil {
		return err
	}
	if err := manifest.Write(o.Root, o.Connection.ID, shards, func(name string, content []byte) error { return writeFile(o.Root, name, content) }); err != nil {
		return err
	}
	return writeJSON(o.Root, path.Join(syncFolder(o.Connection.ID, report.SyncID), reportFile), report)
}
