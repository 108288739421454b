package clickhouse

import (
	"strings"

	"github.com/ktxhq/ktx/dialects/internal/denied"
	"github.com/ktxhq/ktx/dialects/internal/lexical"
	"github.com/ktxhq/ktx/sqlguard"
)

// deniedFunctions are functions that do more than compute, or read what the statement
// does not show. Everything else that is not in functions_table.go is refused as unknown.
// The test that writes functions_table.go leaves them out of its lists.
var deniedFunctions = denied.NewTable([]denied.Rule{
	{Names: "file catboostEvaluate", Code: sqlguard.CodeFunctionFileAccess, Reason: "reads a file of the server"},
	{Names: "ai* reverseDNSQuery hasColumnInTable", Code: sqlguard.CodeFunctionNetworkAccess, Reason: "sends a request to another server"},
	{Names: "sleep sleepEachRow", Code: sqlguard.CodeFunctionSleep, Reason: "holds the connection"},
	{Names: "logTrace generateSerialID trap aggThrow", Code: sqlguard.CodeFunctionSideEffect, Reason: "does more than compute: it writes to a log, moves a counter or stops the server"},
	{
		Names: "getSetting getSettingOrDefault getServerSetting getMergeTreeSetting getMacro getServerPort getClientHTTPHeader getOSKernelVersion serverUUID tcpPort" +
			" showCertificate filesystem* addressTo* zookeeperSessionUptime transaction*", Code: sqlguard.CodeFunctionAdmin, Reason: "shows how the server is set up",
	},
	{Names: "dictGet* dictHas dictIsIn region* lemmatize synonyms naiveBayesClassifier*", Code: sqlguard.CodeFunctionNotAllowed, Reason: "reads a dictionary or a model, which the server may load from files or from other servers"},
	{Names: "structureToCapnProtoSchema structureToProtobufSchema", Code: sqlguard.CodeFunctionNotAllowed, Reason: "computes expressions that its text can hold"},
	{Names: "joinGet joinGetOrNull", Code: sqlguard.CodeFunctionNotAllowed, Reason: "reads a table that it names in a text"},
	{
		Names: "in inIgnoreSet notIn notInIgnoreSet nullIn nullInIgnoreSet notNullIn notNullInIgnoreSet globalIn globalInIgnoreSet globalNotIn globalNotInIgnoreSet" +
			" globalNullIn globalNullInIgnoreSet globalNotNullIn globalNotNullInIgnoreSet", Code: sqlguard.CodeFunctionNotAllowed, Reason: "can read a table that is its argument; write x IN (…)",
	},
	{Names: "_CAST __*", Code: sqlguard.CodeFunctionNotAllowed, Reason: "belongs to the server's own plans"},
})

// serverFunctions and serverAggregates are functions of servers, found by their exact
// names, that the library lacks from which functions_table.go comes.
const (
	serverFunctions = `BLAKE3 bech32Decode bech32Encode detectCharset detectLanguage detectLanguageMixed detectLanguageUnknown detectProgrammingLanguage
	detectTonality generateULID geoToS2 idnaDecode idnaEncode punycodeDecode punycodeEncode s2CapContains s2CapUnion s2CellsIntersect s2GetNeighbors
	s2RectAdd s2RectContains s2RectIntersection s2RectUnion s2ToGeo seriesPeriodDetectFFT stem tryIdnaEncode tryPunycodeDecode ULIDStringToDateTime
	uniqThetaIntersect uniqThetaNot uniqThetaUnion`
	serverAggregates = "uniqTheta"
)

// exactNames are the functions by their exact names, and foldedNames those that the
// server finds in any case, in lower case. The value says whether it aggregates.
var exactNames, foldedNames = func() (exact, folded map[string]bool) {
	exact, folded = map[string]bool{}, map[string]bool{}
	for _, list := range []struct {
		names                string
		aggregate, caseBlind bool
	}{{serverFunctions, false, false}, {serverAggregates, true, false}, {scalarFunctions, false, false}, {foldedScalarFunctions, false, true}, {aggregateFunctions, true, false}, {foldedAggregateFunctions, true, true}} {
		for n := range strings.FieldsSeq(list.names) {
			exact[n] = list.aggregate
			if list.caseBlind {
				folded[lexical.Lower(n)] = list.aggregate
			}
		}
	}
	return exact, folded
}()

func lookupFunction(function string) (aggregate, ok bool) {
	if aggregate, ok = exactNames[function]; ok {
		return aggregate, true
	}
	aggregate, ok = foldedNames[lexical.Lower(function)]
	return aggregate, ok
}

// syntaxFunctions are functions that the server's parser or analysis reads, in any case,
// and replaces by others.
var syntaxFunctions = lexical.Set("grouping trim ltrim rtrim date_add date_sub dateadd datesub timestampadd timestampsub timestamp_add timestamp_sub extract cast date_part datepart")

// combinators are what can follow the name of an aggregate function. Reference: Aggregate
// Function Combinators.
var combinators = strings.Fields("SimpleState OrDefault Distinct Resample ForEach ArgMax ArgMin OrNull Tuple Merge State Array Null Map If")

// maxCombinators bounds how many combinators a name may have.
const maxCombinators = 8

// ruleFunction rules on a function by its name.
func ruleFunction(function string) (name string, rule sqlguard.Ruling, builtin bool) {
	if d := deniedFunctions.Find(lexical.Lower(function)); d != nil {
		return function, d.Ruling(), true
	}
	if _, ok := lookupFunction(function); ok || function == "untuple" { // which makes columns, and is in no list
		return function, sqlguard.Ruling{Allowed: true}, true
	}
	if syntaxFunctions[lexical.Lower(function)] {
		return function, sqlguard.Ruling{Allowed: true}, true
	}
	rest := function
	for range maxCombinators {
		found := false
		for _, c := range combinators {
			if base, ok := strings.CutSuffix(rest, c); ok && base != "" {
				rest, found = base, true
				break
			}
		}
		if !found {
			break
		}
		if aggregate, ok := lookupFunction(rest); ok && aggregate && deniedFunctions.Find(lexical.Lower(rest)) == nil {
			return function, sqlguard.Ruling{Allowed: true}, true
		}
	}
	if use, ok := tableFunctions[function]; ok || use != "" {
		return function, sqlguard.Ruling{Reason: "it is a table function, for FROM"}, true
	}
	if d := deniedTables.Find(lexical.Lower(function)); d != nil {
		return function, d.Ruling(), true
	}
	return function, sqlguard.Ruling{}, false
}

// tableFunctions are the table functions that make rows from their arguments. The value
// says what these are.
var tableFunctions = map[string]string{
	"numbers": "values", "numbers_mt": "values", "zeros": "values", "zeros_mt": "values", "primes": "values",
	"generateSeries": "values", "generate_series": "values", "generateRandom": "values",
	"values": "values", "VALUES": "values", "Values": "values", "view": "query",
}

// deniedTables are the other table functions, by what they do.
var deniedTables = denied.NewTable([]denied.Rule{
	{Names: "file fileCluster filesystem sqlite deltaLakeLocal icebergLocal icebergLocalCluster hudi paimonLocal", Code: sqlguard.CodeFunctionFileAccess, Reason: "reads a file of the server"},
	{
		Names: "url urlCluster s3 s3Cluster gcs oss cosn hdfs hdfsCluster azureBlobStorage azureBlobStorageCluster remote remoteSecure mysql postgresql mongodb redis jdbc" +
			" odbc ytsaurus arrowstream deltaLake deltaLakeAzure deltaLakeAzureCluster deltaLakeCluster deltaLakeS3 deltaLakeS3Cluster hudiCluster iceberg icebergAzure" +
			" icebergAzureCluster icebergCluster icebergHDFS icebergHDFSCluster icebergS3 icebergS3Cluster paimon paimonAzure paimonAzureCluster" +
			" paimonCluster paimonHDFS paimonHDFSCluster paimonS3 paimonS3Cluster prometheusQuery prometheusQueryRange", Code: sqlguard.CodeFunctionNetworkAccess, Reason: "connects to another server",
	},
	{Names: "cluster clusterAllReplicas", Code: sqlguard.CodeExternalRelation, Reason: "reads a table on other servers"},
	{Names: "eval", Code: sqlguard.CodeDynamicSQL, Reason: "runs the text of a query"},
	{Names: "executable", Code: sqlguard.CodeFunctionSideEffect, Reason: "runs a program on the server"},
	{Names: "dictionary", Code: sqlguard.CodeFunctionNotAllowed, Reason: "reads a dictionary, which the server may load from files or from other servers"},
	{
		Names: "merge loop mergeTreeAnalyzeIndexes mergeTreeAnalyzeIndexesUUID mergeTreeIndex mergeTreeProjection mergeTreeTextIndex timeSeriesData timeSeriesMetrics timeSeriesSamples" +
			" timeSeriesSelector timeSeriesTags", Code: sqlguard.CodeRelationNotAllowed, Reason: "reads tables that it names by a pattern or a text",
	},
	{Names: "format fuzzJSON fuzzQuery input SQLStandardValues null viewExplain viewIfPermitted", Code: sqlguard.CodeFunctionNotAllowed, Reason: "not on the list of table functions that only make rows"},
})

// ruleTableFunction rules on a table function by its name. Users make none.
func ruleTableFunction(function string) sqlguard.Ruling {
	if tableFunctions[function] != "" {
		return sqlguard.Ruling{Allowed: true}
	}
	if d := deniedTables.Find(lexical.Lower(function)); d != nil {
		return d.Ruling()
	}
	return sqlguard.Ruling{Reason: "not on the list of table functions that only make rows"}
}
