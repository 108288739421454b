package research

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/research/catalog"
	"github.com/ktxhq/ktx/research/dictionary"
	"github.com/ktxhq/ktx/sqlguard"
)

// DictionarySearchInput is the input of dictionary_search.
type DictionarySearchInput struct {
	Values []string `json:"values"`
	// ConnectionID narrows the search to one connection. "" means all connections
	// that the caller may use.
	ConnectionID string `json:"connectionId"`
	// MaxBytes is about how long the answer may be as JSON. 0 means
	// DefaultDictionaryBytes.
	MaxBytes int `json:"-"`
}

// DefaultDictionaryBytes is how long an answer of dictionary_search is for a model.
const DefaultDictionaryBytes = 4 << 10

// The limits of an answer of dictionary_search.
const (
	fewestMatches    = 3         // of each value, even if the answer is longer then
	mostMatchesBytes = 128 << 10 // of all matches as JSON
	mostConnections  = 50        // in each list
	mostEcho         = 1 << 10   // bytes that are repeated of a value
)

// DictionarySearch is the answer of dictionary_search.
type DictionarySearch struct {
	Searched []SearchedConnection `json:"searched"`
	// OmittedConnections counts the connections that are not in Searched.
	OmittedConnections int                 `json:"omittedConnections,omitempty"`
	Results            []dictionary.Result `json:"results"`
	// Notes say what could not be read.
	Notes []string `json:"-"`
}

// SearchedConnection says which values of a connection were searched.
type SearchedConnection struct {
	ConnectionID string              `json:"connectionId"`
	Coverage     dictionary.Coverage `json:"coverage"`
	Status       dictionary.Status   `json:"status"`
	Hint         string              `json:"hint,omitempty"` // what to do unless it is ready
}

// DictionarySearch looks up in which columns values occur. An unknown connection is
// the error of [execution.Gateway.Connection].
func (s *Service) DictionarySearch(ctx context.Context, in DictionarySearchInput) (DictionarySearch, error) {
	ids, err := s.connectionIDs(ctx, in.ConnectionID)
	if err != nil {
		return DictionarySearch{}, err
	}
	out := DictionarySearch{Searched: []SearchedConnection{}}
	sets := make([]*dictionary.Set, 0, len(ids))
	for _, id := range ids {
		set, err := s.values(ctx, id)
		if err != nil {
			return DictionarySearch{}, err
		}
		sets = append(sets, set)
		out.Notes = append(out.Notes, set.Warnings()...)
	}
	out.Results = dictionary.Search(in.Values, sets...)
	for i := range out.Results {
		out.Results[i].Value = cutText(out.Results[i].Value, mostEcho)
	}
	out.search(sets)
	size := in.MaxBytes
	if size == 0 {
		size = DefaultDictionaryBytes
	}
	return out, out.fit(size)
}

// connectionIDs returns the connection that was asked for, or all that the caller may
// use.
func (s *Service) connectionIDs(ctx context.Context, asked string) ([]string, error) {
	if asked != "" {
		info, err := s.gateway.Connection(ctx, asked)
		return []string{info.ID}, err
	}
	return idsOf(s.gateway.Connections(ctx)), nil
}

// values returns the values of a connection that its access rules permit. What cannot
// be read is a connection without values.
func (s *Service) values(ctx context.Context, id string) (*dictionary.Set, error) {
	stores := s.stores.Load()
	readable, err := s.gateway.Readable(ctx, id)
	if err != nil {
		return nil, err
	}
	snapshot, err := stores.Catalog.Snapshot(ctx, id, readable)
	if err != nil {
		if ctx.Err() != nil {
			return nil, execution.NewError(sqlguard.CodeCancelled, "cancelled while the scan of "+id+" was read", ctx.Err())
		}
		if !errors.Is(err, catalog.ErrNoScan) {
			s.logger.WarnContext(ctx, "the scan of a connection cannot be read", "connection", id, "error", err)
		}
		return dictionary.Unscanned(id), nil
	}
	set, err := stores.Dictionary.Set(snapshot, readable)
	if err != nil {
		s.logger.WarnContext(ctx, "the values of a connection cannot be read", "connection", id, "error", err)
		return dictionary.Unscanned(id), nil
	}
	return set, nil
}

// search lists the connections. If they are too many, those with a match come before
// the others, and the lists of misses are cut too.
func (o *DictionarySearch) search(sets []*dictionary.Set) {
	listed := map[string]bool{}
	if len(sets) > mostConnections {
		for _, r := range o.Results {
			for _, m := range r.Matches {
				listed[m.ConnectionID] = true
			}
		}
		for _, set := range sets {
			if len(listed) < mostConnections {
				listed[set.ConnectionID()] = true
			}
		}
		for i := range o.Results {
			r := &o.Results[i]
			r.Misses = r.Misses[:min(len(r.Misses), mostConnections)]
		}
	}
	for _, set := range sets {
		id := set.ConnectionID()
		if len(sets) > mostConnections && !listed[id] {
			o.OmittedConnections++
			continue
		}
		c := SearchedConnection{ConnectionID: id, Coverage: set.Coverage(), Status: set.Status()}
		switch c.Status {
		case dictionary.StatusReady:
		case dictionary.StatusNoProfile:
			c.Hint = "no values of it are known; ask the operator to run: ktx scan " + id
		case dictionary.StatusNoCandidates:
			c.Hint = "none of its columns has texts that a scan keeps; look at the values with sql_execution"
		}
		o.Searched = append(o.Searched, c)
	}
}

// fit leaves out the last matches of each value, until the answer has about size
// bytes.
func (o *DictionarySearch) fit(size int) error {
	all := make([][]dictionary.Match, len(o.Results))
	for i := range o.Results {
		all[i], o.Results[i].Matches = o.Results[i].Matches, []dictionary.Match{}
	}
	frame, err := compactJSON(o)
	if err != nil {
		return err
	}
	left, most := size-len(frame), mostMatchesBytes
	for i := range o.Results {
		r := &o.Results[i]
		share := max(left, 0) / (len(o.Results) - i) // what a value leaves is for those behind it
		for n, m := range all[i] {
			text, err := json.Marshal(m)
			if err != nil {
				return fmt.Errorf("encode answer: %w", err)
			}
			used := len(text) + 1
			if n >= fewestMatches && used > share || used > most {
				break
			}
			share, left, most = share-used, left-used, most-used
			r.Matches = append(r.Matches, m)
		}
		r.Omitted += len(all[i]) - len(r.Matches)
	}
	return nil
}

// cutText returns at most size bytes of a text.
func cutText(text string, size int) string {
	if len(text) <= size {
		return text
	}
	return strings.ToValidUTF8(text[:size], "") + "…"
}

// handleDictionarySearch is [Service.DictionarySearch] with its notes.
func (s *Service) handleDictionarySearch(ctx context.Context, c *toolCall, in DictionarySearchInput) (DictionarySearch, error) {
	out, err := s.DictionarySearch(ctx, in)
	c.notes = append(c.notes, slices.Clone(out.Notes)...)
	return out, err
}
