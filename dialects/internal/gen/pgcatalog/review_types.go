package main

// Types and operators of extensions that are not at hand for a harvest, from
// the extensions' manuals. Those of the harvested extensions come from the
// facts: an operator is listed when the function behind it is allowed.
var (
	manualTypes = map[string]string{
		"hll":     `hll hll_hashval`,
		"h3":      `h3index`,
		"tdigest": `tdigest`,
		"vector":  `vector halfvec sparsevec`,
		"postgis": `geometry geography box2d box3d box2df gidx spheroid geometry_dump valid_detail raster rastbandarg addbandarg`,
	}
	manualOperators = map[string]string{
		"vector": `<-> <#> <=> <+> <~> <%> + - * || < <= = <> >= >`,
		"postgis": `&& &&& &/& ~= ~~= <-> <#> <<->> <<#>> |=| <<>> @ ~ @@ ~~ ~== @>> <<@ << >> <<| |>> &< &> &<| |&>
			< <= = <> >= >`,
	}
)
