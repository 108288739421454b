package kit

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/ktxhq/ktx/research/catalog"
)

// detailed is the part of the answer of entity_details that counts.
type detailed struct {
	Results []struct {
		OK       bool        `json:"ok"`
		TableRef catalog.Ref `json:"tableRef"`
		Columns  []struct {
			Name string `json:"name"`
		} `json:"columns"`
		OmittedColumns int `json:"omittedColumns"`
	} `json:"results"`
}

// details asks entity_details for each table that discover_data named, by its id. The
// answer is right when it is the same table with all its columns.
func (k *kit) details(ctx context.Context, d *dataset, s *server, named *tablesNamed) error {
	columns := map[string]map[string]int{}
	for _, db := range d.databases {
		columns[db.id] = map[string]int{}
		for _, t := range db.tables {
			columns[db.id][t.Name] = len(t.Columns)
		}
	}
	ids := slices.SortedFunc(maps.Keys(named.ids), func(a, b tableID) int {
		return cmp.Or(cmp.Compare(a.connection, b.connection), cmp.Compare(a.id, b.id))
	})
	wrong := make([]bool, len(ids))
	err := k.each(ctx, d.name+", entity_details of the tables found", len(ids), func(ctx context.Context, i int) error {
		id := ids[i]
		var answer detailed
		_, err := s.call(ctx, "entity_details", map[string]any{"connectionId": id.connection, "entities": []any{map[string]any{"table": id.id}}}, &answer)
		if err != nil {
			return err
		}
		wrong[i] = len(answer.Results) != 1 || !answer.Results[0].OK || answer.Results[0].TableRef != named.ids[id] ||
			len(answer.Results[0].Columns)+answer.Results[0].OmittedColumns != columns[id.connection][named.ids[id].Name]
		return nil
	})
	if err != nil {
		return err
	}
	count := 0
	for _, w := range wrong {
		count += one(w)
	}
	k.report.none(d.name, "entity_details by the ids of discover_data", "wrong answers", count, len(ids))
	return nil
}
