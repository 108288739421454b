package pages

import (
	"cmp"
	"slices"
)

// maxEntities bounds the tables of a diagram. More of them cannot be read.
const maxEntities = 120

// The sizes of a diagram, in the units of its drawing.
const (
	entityHeight = 30
	entityGap    = 14
	layerGap     = 70
	letterWidth  = 8
	longestName  = 30
)

// entity is a table in a diagram. Without a name it is a point that a long line passes.
type entity struct {
	name       string
	label      string
	to, from   []int // the tables that its keys lead to, and those whose keys lead to it
	layer      int
	order      float64
	x, y, wide int
}

// around returns a table with the tables that its keys lead to, and those whose keys lead
// to it.
func around(tables []Table, name string) []Table {
	near := map[string]bool{name: true}
	for _, t := range tables {
		own := qualified(t.Schema, t.Name)
		if own == name {
			for _, to := range t.References {
				near[to] = true
			}
		} else if slices.Contains(t.References, name) {
			near[own] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(tables), func(t Table) bool { return !near[qualified(t.Schema, t.Name)] })
}

// entities returns the tables that have joins with others of the list.
func entities(tables []Table) []*entity {
	numbers := map[string]int{}
	var all []*entity
	for _, t := range tables {
		name := qualified(t.Schema, t.Name)
		numbers[name] = len(all)
		all = append(all, &entity{name: name, label: t.Name})
	}
	for i, t := range tables {
		for _, to := range t.References {
			if n, known := numbers[to]; known && n != i {
				all[i].to = append(all[i].to, n)
				all[n].from = append(all[n].from, i)
			}
		}
	}
	// Without the tables that have none, the others have other numbers.
	var joined []*entity
	moved := make([]int, len(all))
	for i, e := range all {
		moved[i] = len(joined)
		if len(e.to)+len(e.from) > 0 {
			joined = append(joined, e)
		}
	}
	for _, e := range joined {
		for _, list := range [][]int{e.to, e.from} {
			for i := range list {
				list[i] = moved[list[i]]
			}
		}
	}
	return joined
}

// join is a line of a diagram: a table, the points that the line passes, and the table that
// the key leads to.
type join []*entity

// arrange places entities in layers and returns the joins between them. Keys lead to the
// left, as far as they make no circle, and tables stand near those that they are joined
// with.
func arrange(all []*entity) (joins []join, width, height int) {
	const begun, done = 1, 2
	state := make([]int, len(all))
	var visit func(i int)
	visit = func(i int) {
		state[i] = begun
		for _, to := range all[i].to {
			if state[to] == 0 {
				visit(to)
			}
			if state[to] == done {
				all[i].layer = max(all[i].layer, all[to].layer+1)
			}
		}
		state[i] = done
	}
	for i := range all {
		if state[i] == 0 {
			visit(i)
		}
	}
	var layers [][]*entity
	place := func(e *entity) {
		for len(layers) <= e.layer {
			layers = append(layers, nil)
		}
		e.order = float64(len(layers[e.layer]))
		layers[e.layer] = append(layers[e.layer], e)
	}
	for _, e := range all {
		place(e)
	}
	near := map[*entity][]*entity{}
	for _, e := range all {
		for _, n := range e.to {
			to := all[n]
			line := join{e}
			step := 1
			if to.layer < e.layer {
				step = -1
			}
			for layer := e.layer + step; to.layer != e.layer && layer != to.layer; layer += step {
				point := &entity{layer: layer}
				place(point)
				line = append(line, point)
			}
			line = append(line, to)
			for i := range len(line) - 1 {
				near[line[i]] = append(near[line[i]], line[i+1])
				near[line[i+1]] = append(near[line[i+1]], line[i])
			}
			joins = append(joins, line)
		}
	}
	for range 4 { // sweeps that pull each table to the middle of its neighbours
		for _, layer := range layers {
			for _, e := range layer {
				sum := 0.0
				for _, other := range near[e] {
					sum += other.order
				}
				e.order = sum / float64(len(near[e])) // an entity has a join
			}
			slices.SortStableFunc(layer, func(a, b *entity) int { return cmp.Or(cmp.Compare(a.order, b.order), cmp.Compare(a.name, b.name)) })
			for i, e := range layer {
				e.order = float64(i) - float64(len(layer))/2
			}
		}
	}
	tallest := 0
	for _, layer := range layers {
		tallest = max(tallest, len(layer))
	}
	x := entityGap
	for _, layer := range layers {
		wide := 0
		for i, e := range layer {
			if e.name != "" {
				e.wide = min(len([]rune(e.label)), longestName)*letterWidth + 20
			}
			wide = max(wide, e.wide)
			e.x, e.y = x, entityGap+(tallest-len(layer))*(entityHeight+entityGap)/2+i*(entityHeight+entityGap)
		}
		x += wide + layerGap
	}
	return joins, x, tallest*(entityHeight+entityGap) + entityGap
}

// line writes a join as a curve from the side of a table that looks to the next one.
func (d *document) line(j join) {
	from, last := j[0], j[len(j)-1]
	left := last.layer < from.layer
	side := func(e *entity, leftSide bool) (x, y int) {
		if leftSide || e.name == "" {
			return e.x, e.y + entityHeight/2
		}
		return e.x + e.wide, e.y + entityHeight/2
	}
	x, y := side(from, left)
	d.Put(`<path class="join" marker-end="url(#arrow)" d="M%s %s`, x, y)
	for _, e := range j[1:] {
		nextX, nextY := side(e, last.layer > from.layer)
		bend, end := (nextX-x)/2, (nextX-x)/2
		if last.layer == from.layer { // around the side of the layer
			bend, end = layerGap/2+max(0, nextX-x), -layerGap/2-max(0, x-nextX)
		}
		d.Put(`C%s %s %s %s %s %s`, x+bend, y, nextX-end, nextY, nextX, nextY)
		x, y = nextX, nextY
	}
	d.Put(`"/>`)
}

// diagram draws tables and the joins between them. chosen is the table of the page.
func (d *document) diagram(connection string, tables []Table, chosen string) {
	all := entities(tables)
	if len(all) == 0 {
		return
	}
	d.Put(`<h2>How tables are joined</h2>`)
	if len(all) > maxEntities {
		d.Put(`<p>%s tables have joins, which is too much for a diagram. Choose a schema or a table.</p>`, len(all))
		return
	}
	joins, width, height := arrange(all)
	d.Put(`<figure class="diagram"><div class="scroll" tabindex="0" role="region" aria-label="Diagram of tables"><svg width="%s" height="%s" viewBox="0 0 %s %s" role="group" aria-label="Tables and the joins between them"><defs><marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto-start-reverse"><path d="M0 0L8 4L0 8z"/></marker></defs>`, width, height, width, height)
	for _, j := range joins {
		d.line(j)
	}
	for _, e := range all {
		d.Put(`<a href="%s"`, tableAddress(connection, e.name))
		if e.name == chosen {
			d.Put(` aria-current="true"`)
		}
		label := []rune(e.label)
		if len(label) > longestName {
			label = append(label[:longestName-1], '…')
		}
		d.Put(`><title>%s</title><rect class="entity" x="%s" y="%s" width="%s" height="%s" rx="5"/><text x="%s" y="%s">%s</text></a>`,
			e.name, e.x, e.y, e.wide, entityHeight, e.x+10, e.y+20, string(label))
	}
	d.Put(`</svg></div><figcaption>An arrow leads from a table with a foreign key, or a join that the scan found, to the table that it names.`)
	if without := len(tables) - len(all); without > 0 {
		d.Put(` Without joins, and not drawn: %s.`, count(without, "table"))
	}
	d.Put(`</figcaption><details><summary>The same as a table</summary>`)
	d.table("Joins of the diagram", []string{"table", "keys lead to"}, func(row func(...any)) {
		for _, e := range all {
			for _, n := range e.to {
				row(anchor{e.name, tableAddress(connection, e.name)}, anchor{all[n].name, tableAddress(connection, all[n].name)})
			}
		}
	})
	d.Put(`</details></figure>`)
}
