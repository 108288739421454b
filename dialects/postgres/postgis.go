package postgres

import (
	"strings"

	"github.com/ktxhq/ktx/sqlguard"
)

// rasterExtension is the extension whose values can name a file or an address, from
// which the server then reads their pixels.
const rasterExtension = "postgis_raster"

// rasterForms are the functions of geometries that read pixels when they get a raster,
// with the fewest arguments of such a call.
var rasterForms = map[string]int{
	"st_asbinary": 1, "st_intersection": 2, "st_polygon": 1, "st_snaptogrid": 3, "st_transform": 2, "st_union": 1,
	"st_contains": 3, "st_containsproperly": 3, "st_coveredby": 3, "st_covers": 3, "st_disjoint": 3, "st_intersects": 3,
	"st_overlaps": 3, "st_touches": 3, "st_within": 3,
	"st_dfullywithin": 5, "st_dwithin": 5,
}

// opened returns the extension whose values can make a call read a file, if any.
func opened(name string, arguments []*node) string {
	if entry, ok := findFunction(name); ok && entry.opens {
		return entry.extension
	}
	if least, ok := rasterForms[name]; !ok || len(arguments) < least {
		return ""
	}
	for _, a := range arguments {
		if !castToGeometry(a) && !visiblyNoText(a) {
			return rasterExtension
		}
	}
	return ""
}

// castToGeometry reports whether an expression is cast to a geometry or a geography. A
// raster becomes its outline by that.
func castToGeometry(n *node) bool {
	cast := n.GetTypeCast()
	if cast == nil || len(cast.TypeName.GetArrayBounds()) > 0 {
		return false
	}
	name := lastName(cast.TypeName.GetNames())
	return name == "geometry" || name == "geography"
}

// topologyTables are the tables of a topology, in the schema that has its name.
var topologyTables = []string{"node", "edge_data", "face", "relation"}

// topology notes that a call reads the tables of a topology. The result is false unless
// the call shows which one.
func (w *walker) topology(n *funcCall) bool {
	name, literal := settingName(argument(n, 0))
	if !literal || n.FuncVariadic || strings.TrimSpace(name) == "" {
		return false
	}
	for _, table := range topologyTables {
		w.judgeRangeVar(&rangeVar{Schemaname: name, Relname: table, Location: n.Location})
		w.noteColumn(sqlguard.ColumnRef{Qualifier: []string{name, table}, Star: true, Span: w.nameSpan(n.Location)})
	}
	return true
}
