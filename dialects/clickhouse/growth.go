package clickhouse

import "github.com/ktxhq/ktx/sqlguard"

// growth is what functions make from constants. Reference: String Functions, Array
// Functions. The costly functions search a text for another one or compare two texts.
var growth = &sqlguard.Growth{
	Rereads: true, // 14 that each read the one before twice run past every limit of the server
	Costly: map[string]bool{
		"replaceregexpall": true, "replaceregexpone": true, "regexp_replace": true, "extractall": true, "extractallgroups": true, "match": true,
		"editdistance": true, "editdistanceutf8": true, "levenshteindistance": true, "levenshteindistanceutf8": true,
		"dameraulevenshteindistance": true, "arraylevenshteindistance": true, "arraylevenshteindistanceweighted": true,
		"jarosimilarity": true, "jarowinklersimilarity": true, "position": true, "locate": true, "translate": true, "countsubstrings": true,
	},
	CostlyOperators: map[string]bool{},
	Makers: map[string]sqlguard.Maker{
		"repeat": sqlguard.MakesRepeat, "space": sqlguard.MakesCount, "leftpad": sqlguard.MakesPad, "lpad": sqlguard.MakesPad, "rightpad": sqlguard.MakesPad,
		"rpad": sqlguard.MakesPad, "leftpadutf8": sqlguard.MakesPad, "rightpadutf8": sqlguard.MakesPad, "tofixedstring": sqlguard.MakesPad,
		"arraywithconstant": sqlguard.MakesCount, "replicate": sqlguard.MakesAll, "arrayresize": sqlguard.MakesPad,
		"range": sqlguard.MakesLarge, "randomstring": sqlguard.MakesCount, "randomfixedstring": sqlguard.MakesCount, "randomprintableascii": sqlguard.MakesCount,
		"randomstringutf8": sqlguard.MakesCount, "replace": sqlguard.MakesReplaceText, "replaceall": sqlguard.MakesReplaceText, "replaceregexpall": sqlguard.MakesReplace,
		"hex": sqlguard.MakesFourfold, "bin": sqlguard.MakesFourfold, "base64encode": sqlguard.MakesFourfold, "format": sqlguard.MakesFormat, "printf": sqlguard.MakesFormat,
		"numbers": sqlguard.MakesRows, "numbers_mt": sqlguard.MakesRows, "zeros": sqlguard.MakesRows, "zeros_mt": sqlguard.MakesRows,
		"generateseries": sqlguard.MakesRows, "generate_series": sqlguard.MakesRows, "grouparray": sqlguard.MakesAll, "array_agg": sqlguard.MakesAll,
		"sum":         sqlguard.MakesTotal,
		"count":       sqlguard.MakesNumber,
		"row_number":  sqlguard.MakesNumber,
		"rank":        sqlguard.MakesNumber,
		"dense_rank":  sqlguard.MakesNumber,
		"groupconcat": sqlguard.MakesAll, "string_agg": sqlguard.MakesAll,
		"length": sqlguard.MakesLength, "lengthutf8": sqlguard.MakesLength, "position": sqlguard.MakesLength,
		"pow": sqlguard.MakesPower, "power": sqlguard.MakesPower, "exp": sqlguard.MakesLarge, "exp2": sqlguard.MakesLarge, "exp10": sqlguard.MakesLarge,
		"factorial": sqlguard.MakesLarge, "rand": sqlguard.MakesLarge, "sign": sqlguard.MakesSmall, "pi": sqlguard.MakesSmall,
	},
}

// Growth returns what the dialect's functions make from constants.
func (Dialect) Growth() *sqlguard.Growth { return growth }
