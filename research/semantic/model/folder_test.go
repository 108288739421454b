package model_test

import (
	"maps"
	"reflect"
	"sync"
	"testing"

	"github.com/ktxhq/ktx/research/semantic/model"
)

func contents(f files) map[string][]byte {
	out := map[string][]byte{}
	for name, text := range f {
		out[name] = []byte(text)
	}
	return out
}

// TestFolderTakesOver: a folder that takes over what is the same makes the same model as
// one that reads everything, and one folder can make several models at once.
func TestFolderTakesOver(t *testing.T) {
	t.Parallel()
	first := files{
		"orders.yaml": orders + joinCustomers + "measures: [{name: a, expr: sum(amount), filter: amount > 1}]\n", "customers.yaml": customers, "regions.yaml": regions,
		"_schema/m.yaml": manifest, "bad.yaml": "name: bad\ntable: [\n", "odd.yaml": "name: odd\ntable: odd\ngrain: [id]\ncolumns: [{name: id, type: number}]\nmeasures: [{name: a, expr: sum(}]\n",
	}
	before := model.Read(contents(first), nil)
	for name, change := range map[string]func(files){
		"nothing":        func(files) {},
		"a measure":      func(f files) { f["orders.yaml"] = orders + "measures: [{name: b, expr: count(*)}]\n" },
		"a file is gone": func(f files) { delete(f, "customers.yaml") },
		"a file is new": func(f files) {
			f["cities.yaml"] = "name: cities\ntable: c\ngrain: [id]\ncolumns: [{name: id, type: number}]\n"
		},
		"a file is right": func(f files) {
			f["bad.yaml"] = "name: bad\ntable: b\ngrain: [id]\ncolumns: [{name: id, type: number}]\n"
		},
		"the manifest": func(f files) { f["_schema/m.yaml"] = "tables: {}\n" },
	} {
		next := maps.Clone(first)
		change(next)
		fresh, taken := model.Read(contents(next), nil), model.Read(contents(next), before)
		if same := taken.Hash() == before.Hash(); same != (name == "nothing") || taken.Hash() != fresh.Hash() {
			t.Errorf("%s: hashes %s, %s, and %s before", name, fresh.Hash(), taken.Hash(), before.Hash())
		}
		want := fresh.Load("a", judge)
		var group sync.WaitGroup
		for range 4 {
			group.Go(func() {
				if got := taken.Load("a", judge); !reflect.DeepEqual(got, want) {
					t.Errorf("%s: the model differs", name)
				}
			})
		}
		group.Wait()
		if got := load(next); !reflect.DeepEqual(got.Problems, want.Problems) || len(got.Sources) != len(want.Sources) {
			t.Errorf("%s: read as a folder it has %v, and as contents %v", name, got.Problems, want.Problems)
		}
	}
}
