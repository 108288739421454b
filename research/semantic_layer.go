package research

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/research/semantic"
	"github.com/ktxhq/ktx/research/semantic/emit"
	"github.com/ktxhq/ktx/research/semantic/expr"
	"github.com/ktxhq/ktx/research/semantic/model"
	"github.com/ktxhq/ktx/sqlguard"
)

func hasSemantic(s *Service) bool { return s.stores.Load().Semantic != nil }

// semanticLayer returns the model of a connection, as far as the connection's rules
// permit it. The error is that of [execution.Gateway.Connection] if the caller has no
// such connection.
func (s *Service) semanticLayer(ctx context.Context, info execution.ConnectionInfo) (*semantic.Snapshot, error) {
	rules, err := s.semanticRules(ctx, info)
	if err != nil {
		return nil, err
	}
	found, err := s.stores.Load().Semantic.Snapshot(ctx, info.ID, rules)
	switch {
	case err == nil:
		return found, nil
	case ctx.Err() != nil:
		return nil, execution.NewError(sqlguard.CodeCancelled, "cancelled while the semantic layer was read", err)
	default:
		e := execution.NewError(sqlguard.CodeInternalError, "the files of the semantic layer of "+info.ID+" cannot be read", err)
		if p, ok := errors.AsType[*fs.PathError](err); ok {
			e.Hint = "ask the operator to look at " + p.Path
		}
		return nil, e
	}
}

// semanticRules returns what the connection says about its tables and its SQL.
func (s *Service) semanticRules(ctx context.Context, info execution.ConnectionInfo) (semantic.Rules, error) {
	readable, err := s.gateway.Readable(ctx, info.ID)
	if err != nil {
		return semantic.Rules{}, err
	}
	rules := semantic.Rules{Access: readable, Dialect: emit.Dialect(info.Dialect)}
	if id, err := s.gateway.GuardID(ctx, info.ID); err == nil {
		rules.JudgeID = id.String()
		rules.Judge = func(sql string) (relations, columns []string, err error) {
			v, err := s.gateway.Check(ctx, info.ID, sql)
			if err == nil && !v.Allowed {
				err = &sqlguard.RejectedError{Verdict: v}
				switch v.Code { //nolint:exhaustive // the other codes name no rule, and no name that a rule could apply to
				case sqlguard.CodeRelationNotAllowed, sqlguard.CodeColumnNotAllowed, sqlguard.CodeUnresolvedObject:
					err = fmt.Errorf("%w: %w", model.ErrDenied, err)
				}
			}
			if len(v.Columns) == 0 { // the text does not show them
				v.Columns = nil
			}
			return relationNames(v), v.Columns, err
		}
	}
	return rules, nil
}

// relationNames returns the relations of a verdict, sorted, each once.
func relationNames(v sqlguard.Verdict) []string {
	var names []string
	for _, r := range v.Relations {
		var parts []string
		for _, p := range []string{r.Database, r.Schema, r.Name} {
			if p != "" {
				parts = append(parts, p)
			}
		}
		names = append(names, strings.Join(parts, "\x00"))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// semanticConnection returns the connection of a call that may leave it out.
func (s *Service) semanticConnection(ctx context.Context, id string) (execution.ConnectionInfo, error) {
	if id != "" {
		return s.gateway.Connection(ctx, id)
	}
	all := s.gateway.Connections(ctx)
	if len(all) == 1 {
		return all[0], nil
	}
	ids := idsOf(all)
	e := execution.NewError(sqlguard.CodeInvalidArguments, "connectionId is missing, and there is more than one connection: "+strings.Join(ids, ", "), nil)
	if len(ids) == 0 {
		e.Message = "connectionId is missing, and no connection is configured"
	}
	e.Hint = "name the connection"
	return execution.ConnectionInfo{}, e
}

// noModel says that a connection has no sources.
func noModel(info execution.ConnectionInfo) *expr.Error {
	return &expr.Error{
		Class: expr.UnknownSource, Pos: -1,
		Message: fmt.Sprintf("connection %s has no semantic layer", info.ID),
		Hint:    fmt.Sprintf("use sql_execution, or ask the operator to run: ktx scan %s, or ktx sl init %s", info.ID, info.ID),
	}
}

// unknownSource says that a connection has no source of a name.
func unknownSource(m *model.Model, name string) *expr.Error {
	near := m.Near(name)
	e := &expr.Error{Class: expr.UnknownSource, Message: fmt.Sprintf("there is no source %q", firstUnits(collapse(name), maxShown)), Near: near, Pos: -1}
	if len(near) > 0 {
		e.Hint = "did you mean " + strings.Join(near, ", ") + "?"
	} else {
		e.Hint = "find sources with discover_data, kinds [\"sl_source\"]"
	}
	return e
}
