package research

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/research/semantic"
	"github.com/ktxhq/ktx/research/semantic/emit"
	"github.com/ktxhq/ktx/research/semantic/expr"
	"github.com/ktxhq/ktx/research/semantic/model"
)

// SLDataCheck is what the data says about a grain or a join.
type SLDataCheck struct {
	ConnectionID string             `json:"connectionId"`
	Source       string             `json:"source"`
	Path         string             `json:"path"`
	Kind         semantic.CheckKind `json:"kind"`
	Of           string             `json:"of"` // the source whose rows are counted
	Count        int64              `json:"count"`
	// Fatal says that a count above 0 makes answers wrong.
	Fatal bool `json:"fatal"`
	place model.Place
}

// meanings say what a count is of. %s is the source whose rows are counted.
var meanings = map[semantic.CheckKind]string{
	semantic.GrainDuplicates: "values of the grain of %s are in more than one row",
	semantic.KeyDuplicates:   "keys of %s, which should be unique for this join, are in more than one row",
	semantic.Orphans:         "rows of %s have a key without a partner; they form the group without a value",
	semantic.NullKeys:        "rows of %s have no key; they form the group without a value",
}

func (c *SLDataCheck) meaning() string { return fmt.Sprintf("%d "+meanings[c.Kind], c.Count, c.Of) }

// String returns the check as one line.
func (c *SLDataCheck) String() string {
	return fmt.Sprintf("%s %s %s: %s", c.ConnectionID, c.Source, c.Path, c.meaning())
}

// Problem returns what is wrong with the file, or nil if the data bears it out.
func (c *SLDataCheck) Problem() *SLProblem {
	if !c.Fatal || c.Count == 0 {
		return nil
	}
	p := model.Problem{Source: c.Source, File: c.place.File, Path: c.place.Path, Line: c.place.Line, Class: expr.InvalidGrain, Message: c.meaning()}
	p.Hint = "add the column that makes the rows unique"
	if c.Kind == semantic.KeyDuplicates {
		p.Class, p.Hint = expr.JoinNotOnGrain, "correct the relationship, or join on a unique key"
	}
	return &SLProblem{c.ConnectionID, p}
}

// SLValidateData asks the tables of a connection, or of all that can run statements,
// whether they are what the files say. It calls step after each question.
func (s *Service) SLValidateData(ctx context.Context, connectionID, source string, step func()) ([]SLDataCheck, error) {
	out := []SLDataCheck{}
	err := s.eachModel(ctx, connectionID, func(info execution.ConnectionInfo, found *semantic.Snapshot) error {
		if !info.Runs && connectionID == "" {
			return nil
		}
		v := semantic.Verified{Model: found.Hash(), At: time.Now().UTC().Truncate(time.Second), Joins: map[string]map[string]bool{}}
		for i, from := range found.Model().Sources {
			if at, ok := found.Model().Source(source); source != "" && (!ok || at != i) {
				continue
			}
			right := map[string]bool{}
			checks, err := found.Checks(i, emit.Dialect(info.Dialect))
			if err != nil {
				return err
			}
			for _, check := range checks {
				n, err := s.count(ctx, info, check.SQL)
				if err != nil {
					return fmt.Errorf("check %s %s: %w", from.Name, check.Path, err)
				}
				step()
				if check.Join >= 0 && check.Fatal {
					before, seen := right[check.Path]
					right[check.Path] = n == 0 && (before || !seen)
				}
				out = append(out, SLDataCheck{ConnectionID: info.ID, Source: from.Name, Path: check.Path, Kind: check.Kind, Of: check.Of, Count: n, Fatal: check.Fatal, place: check.Place})
			}
			v.Joins[from.Name] = right
		}
		return s.stores.Load().Semantic.Record(info.ID, v)
	})
	return out, err
}

// count runs a statement that returns one number.
func (s *Service) count(ctx context.Context, info execution.ConnectionInfo, sql string) (int64, error) {
	res, err := s.gateway.Query(ctx, execution.Request{ConnectionID: info.ID, SQL: sql, Limits: execution.Limits{Rows: 1}})
	if err != nil {
		return 0, ownSQL(err)
	}
	if len(res.Rows) != 1 || len(res.Rows[0]) != 1 {
		return 0, fmt.Errorf("expected one number, got %d rows", len(res.Rows))
	}
	n, err := strconv.ParseInt(res.Rows[0][0].Text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("expected a number: %w", err)
	}
	return n, nil
}

// SLFields returns the names of the measures, or of the dimensions, of a connection that
// has them, sorted. It is for completions.
func (s *Service) SLFields(ctx context.Context, connectionID string, kind Kind) ([]string, error) {
	info, err := s.semanticConnection(ctx, connectionID)
	if err != nil {
		return nil, err
	}
	found, err := s.semanticLayer(ctx, info)
	if err != nil {
		return nil, err
	}
	return found.Fields(kind == KindMeasure), nil
}
