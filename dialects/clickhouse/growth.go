package clickhouse

import (
	"strings"

	"github.com/ktxhq/ktx/dialects/internal/lexical"
	"github.com/ktxhq/ktx/sqlguard"
)

// growth is what functions make from constants. The kinds that growthKinds does not have
// are those that tools/growth measured on the engine.
var growth = &sqlguard.Growth{
	Rereads:         true, // 14 that each read the one before twice run past every limit of the server
	Aliases:         true,
	Quotes:          true, // 24 levels of toString([x]) around a quote made 50 MB in a second
	Holders:         strings.Fields("array tuple map tojsonstring formatrow mergepatch splitby group extractall gram token nested keyvalue histogram quantiles topk hierarchy"),
	Costly:          costly(),
	CostlyOperators: map[string]bool{},
	Combinators:     combinators,
	Kinds:           map[string]sqlguard.Maker{"State": sqlguard.MakesAll, "ForEach": sqlguard.MakesAll, "Map": sqlguard.MakesAll, "Resample": sqlguard.MakesScaled},
	Tops:            10,
	Fixed:           lexical.Set("sum count avg min max any anylast argmin argmax uniq uniqcombined uniqcombined64 uniqhll12 uniqtheta stddevpop stddevsamp varpop varsamp quantile quantiles median quantiletdigest quantilestdigest"),
	Columns: map[string]string{
		"numbers": "number", "numbers_mt": "number", "zeros": "zero", "zeros_mt": "zero", "primes": "prime", "generateseries": "generate_series", "generate_series": "generate_series",
	},
	Endless: map[string]bool{"system.numbers": true, "system.numbers_mt": true, "system.zeros": true, "system.zeros_mt": true, "system.primes": true},
	Makers:  makers(),
}

// patterned are functions that try a pattern at each place of a text, or a part of a list at each
// place of another: the table was measured with short ones, or ended before it had enough times.
const patterned = `replaceRegexpAll replaceRegexpOne extractAll extractAllGroups match countSubstrings locate position translate
	arrayLevenshteinDistanceWeighted arraySimilarity mapContainsKeyLike multiFuzzyMatchAny multiFuzzyMatchAnyIndex multiFuzzyMatchAllIndices
	polygonsSymDifferenceCartesian base58Encode multiSearchFirstIndex`

// shuffling are functions that the server computes for each row of a block, although their
// arguments are constants, and does not end before the block does.
const shuffling = "arrayShuffle arrayPartialShuffle"

// costly returns the functions whose cost grows faster than their arguments, by their names
// in lower case.
func costly() map[string]bool {
	out := map[string]bool{}
	for name := range strings.FieldsSeq(costlyFunctions + " " + shuffling + " " + patterned + " " + measuredSlow) {
		out[lexical.Lower(name)] = true
	}
	for pair := range strings.FieldsSeq(functionAliases) {
		if alias, name, _ := strings.Cut(pair, "="); out[lexical.Lower(name)] {
			out[lexical.Lower(alias)] = true
		}
	}
	return out
}

// growthKinds are functions whose kind the measurement does not tell: what follows from the
// reference, and what the measurement shows too coarsely.
var growthKinds = map[sqlguard.Maker]string{
	sqlguard.MakesRepeat: "repeat",
	sqlguard.MakesPad:    "leftPad rightPad leftPadUTF8 rightPadUTF8 lpad rpad toFixedString",
	sqlguard.MakesCount:  "space randomString randomFixedString randomPrintableASCII FixedString",
	sqlguard.MakesResize: "arrayResize",
	sqlguard.MakesSeries: "range generateSeries generate_series timeSeriesRange",
	sqlguard.MakesScaled: "randomStringUTF8 groupArrayInsertAt ngrams ngramsUTF8 arrayShingles naiveBayesNgrams",
	sqlguard.MakesKeys:   "mapPopulateSeries",
	sqlguard.MakesCopies: "arrayWithConstant",
	sqlguard.MakesSome:   "groupArray groupUniqArray groupArrayLast groupArraySample groupArraySorted array_agg largestTriangleThreeBuckets",
	sqlguard.MakesTop:    "topK topKWeighted approx_top_k approx_top_sum approx_top_count",
	sqlguard.MakesSlots:  "timeSlots",
	sqlguard.MakesRing:   "h3kRing h3HexRing",
	sqlguard.MakesHeld: "array tuple map mapFromArrays mapConcat arrayConcat arrayPushBack arrayPushFront arrayReverse arraySort arrayReverseSort arrayDistinct arraySlice arrayPopBack" +
		" arrayPopFront arrayFilter arrayZip mapKeys mapValues tupleElement arrayElement arrayFlatten arrayCompact arrayFill arrayEnumerate arrayElementOrNull arrayMin arrayMax arrayFirst arrayLast" +
		" if multiIf ifNull nullIf coalesce histogram quantiles caseWithExpression transform any anyLast argMin argMax first_value last_value min max",
	sqlguard.MakesReplaceText: "replace replaceAll",
	sqlguard.MakesReplace:     "replaceRegexpAll replaceRegexpOne REGEXP_REPLACE",
	sqlguard.MakesFormat:      "printf format",
	sqlguard.MakesFourfold:    "hex base64Encode base64URLEncode base32Encode base58Encode convertCharset toString regexpQuoteMeta",
	sqlguard.MakesBits:        "bin",
	sqlguard.MakesManyfold: "sparseGrams sparseGramsHashes sparseGramsUTF8 sparseGramsHashesUTF8 sparseGramsHashesArray arrayReduce normalizeUTF8NFKD normalizeUTF8NFKC" +
		" normalizeUTF8NFD normalizeUTF8NFC formatDateTime formatDateTimeInJodaSyntax DATE_FORMAT toJSONString formatRow formatRowNoNewline timeSeriesFromGrid idnaEncode" +
		" readWKT readWKTPolygon readWKTMultiPolygon readWKTPoint readWKTRing readWKTLineString readWKTMultiLineString wkt svg structureToCapnProtoSchema structureToProtobufSchema JSONExtractRaw" +
		" JSONExtractKeysAndValues JSONExtractKeysAndValuesRaw JSONExtractArrayRaw JSONExtractKeys JSONAllPaths JSONAllPathsWithTypes extractKeyValuePairs extractKeyValuePairsWithEscaping" +
		" str_to_map mapFromString bitmaskToArray bitPositionsToArray URLHierarchy URLPathHierarchy",
	sqlguard.MakesProduct: "replicate arrayShiftLeft arrayShiftRight arrayReduceInRanges extractAllGroups extractAllGroupsHorizontal extractAllGroupsVertical" +
		" extractGroups arrayAutocorrelation mapAdd",
	sqlguard.MakesJoined:   "arrayStringConcat",
	sqlguard.MakesText:     "concat concatAssumeInjective",
	sqlguard.MakesChain:    "concatWithSeparator concatWithSeparatorAssumeInjective concat_ws",
	sqlguard.MakesCells:    "h3ToChildren",
	sqlguard.MakesBox:      "geohashesInBox",
	sqlguard.MakesNumbers:  "numbers numbers_mt zeros zeros_mt primes",
	sqlguard.MakesRandom:   "generateRandom",
	sqlguard.MakesUnrolled: "arrayJoin unnest",
	sqlguard.MakesCast: "CAST _CAST accurateCast accurateCastOrNull accurateCastOrDefault reinterpret defaultValueOfTypeName JSONExtract dynamicElement variantElement" +
		" simpleJSONExtract getSubcolumn JSON_VALUE",
	sqlguard.MakesEach:    "arrayMap mapApply",
	sqlguard.MakesReduced: "arrayFold",
	sqlguard.MakesColumns: "columns untuple",
	sqlguard.MakesAll:     "sumMap sumMapWithOverflow sumMapFiltered sumMappedArrays minMap maxMap minMappedArrays maxMappedArrays groupConcat string_agg groupFormat flameGraph MVTEncode groupNumericIndexedVector groupArrayIntersect array_concat_agg groupArrayArray groupUniqArrayArray",
	sqlguard.MakesLength: "length lengthUTF8 CHAR_LENGTH CHARACTER_LENGTH OCTET_LENGTH position positionCaseInsensitive positionUTF8 positionCaseInsensitiveUTF8 locate byteSize" +
		" mapSize arrayUniq countSubstrings countMatches indexOf",
	sqlguard.MakesPower: "pow power",
	sqlguard.MakesTimes: "multiply multiplyDecimal",
	sqlguard.MakesShift: "bitShiftLeft",
	sqlguard.MakesRest:  "modulo mod moduloOrZero moduloOrNull positiveModulo positiveModuloOrNull pmod positive_modulo",
	sqlguard.MakesLarge: "exp exp2 exp10 factorial tgamma lgamma intExp2 intExp10 rand rand32 rand64 randConstant randUniform randNormal randLogNormal randExponential randChiSquared" +
		" randStudentT randFisherF randPoisson randBernoulli randBinomial randNegativeBinomial bitNot arraySum arrayProduct arrayDotProduct reinterpretAsUInt8 runningAccumulate finalizeAggregation" +
		" groupBitXor groupBitOr varPop varSamp stddevPop sumKahan sumWithOverflow sumCount parseReadableSize parseReadableSizeOrNull parseReadableSizeOrZero parseTimeDelta " +
		" conv IPv4StringToNum IPv4StringToNumOrDefault IPv4StringToNumOrNull toUnixTimestamp toUnixTimestamp64Second toUnixTimestamp64Milli toUnixTimestamp64Micro toUnixTimestamp64Nano" +
		" toYYYYMMDD toYYYYMMDDhhmmss toYYYYMM toRelativeSecondNum toRelativeMinuteNum toRelativeHourNum divide divideDecimal divideOrNull uptime" +
		" byteSwap bitRotateLeft bitRotateRight lcm square sqr toModifiedJulianDay toDaysSinceYearZero JSONExtractInt JSONExtractUInt JSONExtractFloat MACStringToNum",
	sqlguard.MakesSmall:  "sign pi e ascii toHour toMinute toSecond toMonth toYear toDayOfMonth toDayOfWeek toDayOfYear toWeek toISOWeek toQuarter YEAR MONTH DAY HOUR MINUTE SECOND QUARTER",
	sqlguard.MakesTotal:  "sum sumOrNull",
	sqlguard.MakesNumber: "count row_number rank dense_rank denseRank percent_rank ntile uniq uniqExact uniqHLL12 uniqCombined uniqCombined64 uniqTheta groupBitmap",
	sqlguard.MakesDay:    "toDate toDate32 today yesterday current_date curdate makeDate makeDate32",
	sqlguard.MakesMoment: "toDateTime toDateTime32 toDateTime64 now now64 nowInBlock current_timestamp parseDateTime parseDateTimeBestEffort parseDateTime64BestEffort fromUnixTimestamp" +
		" makeDateTime makeDateTime64 toTimeZone timestamp utc_timestamp toUTCTimestamp fromUTCTimestamp",
	sqlguard.MakesSpan: "dateDiff date_diff DATEDIFF timestampDiff timestamp_diff age",
	sqlguard.MakesValue: "toUInt8 toUInt16 toUInt32 toUInt64 toUInt128 toUInt256 toInt8 toInt16 toInt32 toInt64 toInt128 toInt256 toFloat32 toFloat64 toUInt32OrZero toUInt64OrZero toInt32OrZero" +
		" toInt64OrZero toUInt32OrNull toUInt64OrNull toInt32OrNull toInt64OrNull toDecimal32 toDecimal64 toDecimal128 toDecimal256 plus minus negate abs round floor ceil ceiling trunc truncate" +
		" intDiv intDivOrZero intDivOrNull bitAnd bitOr bitXor bitShiftRight least greatest toNullable materialize identity toLowCardinality assumeNotNull ignore max2 min2 sqrt cbrt log log2 log10 ln" +
		" gcd toIntervalSecond toIntervalMinute toIntervalHour toIntervalDay toIntervalWeek toIntervalMonth toIntervalYear roundBankers",
}

// makers returns what functions make, by their names in lower case.
func makers() map[string]sqlguard.Maker {
	out := map[string]sqlguard.Maker{}
	for _, list := range []struct {
		kind  sqlguard.Maker
		names string
	}{
		{sqlguard.MakesScaled, measuredCounts},
		{sqlguard.MakesProduct, measuredProducts},
		{sqlguard.MakesManyfold, measuredManyfold},
		{sqlguard.MakesAll, measuredRows},
		{sqlguard.MakesLarge, measuredLarge},
		{sqlguard.MakesValue, measuredValues},
		{sqlguard.MakesManyfold, measuredSlow}, // what they make was not seen
	} {
		for name := range strings.FieldsSeq(list.names) {
			out[lexical.Lower(name)] = list.kind
		}
	}
	for kind, names := range growthKinds {
		for name := range strings.FieldsSeq(names) {
			out[lexical.Lower(name)] = kind
		}
	}
	for pair := range strings.FieldsSeq(functionAliases) {
		alias, name, _ := strings.Cut(pair, "=")
		if kind, made := out[lexical.Lower(name)]; made && out[lexical.Lower(alias)] == sqlguard.MakesSum {
			out[lexical.Lower(alias)] = kind
		}
	}
	return out
}

// Growth returns what the dialect's functions make from constants.
func (Dialect) Growth() *sqlguard.Growth { return growth }
