package clickhouse

import (
	"strings"

	"github.com/ktxhq/ktx/sqlguard"
)

// deniedRule refuses functions of the server by their names. A name that ends with a star
// stands for all names that begin so. The test that writes functions_table.go leaves them
// out of its lists.
type deniedRule struct {
	names  string
	code   sqlguard.Code
	reason string
}

// deniedFunctions are functions that do more than compute, or read what the statement
// does not show. Everything else that is not in functions_table.go is refused as unknown.
var deniedFunctions = []deniedRule{
	{"file catboostEvaluate", sqlguard.CodeFunctionFileAccess, "reads a file of the server"},
	{"ai* reverseDNSQuery hasColumnInTable", sqlguard.CodeFunctionNetworkAccess, "sends a request to another server"},
	{"sleep sleepEachRow", sqlguard.CodeFunctionSleep, "holds the connection"},
	{"logTrace generateSerialID trap aggThrow", sqlguard.CodeFunctionSideEffect, "does more than compute: it writes to a log, moves a counter or stops the server"},
	{
		"getSetting getSettingOrDefault getServerSetting getMergeTreeSetting getMacro getServerPort getClientHTTPHeader getOSKernelVersion serverUUID tcpPort" +
			" showCertificate filesystem* addressTo* zookeeperSessionUptime transaction*", sqlguard.CodeFunctionAdmin, "shows how the server is set up",
	},
	{"dictGet* dictHas dictIsIn region* lemmatize synonyms naiveBayesClassifier*", sqlguard.CodeFunctionNotAllowed, "reads a dictionary or a model, which the server may load from files or from other servers"},
	{"joinGet joinGetOrNull", sqlguard.CodeFunctionNotAllowed, "reads a table that it names in a text"},
	{
		"in inIgnoreSet notIn notInIgnoreSet nullIn nullInIgnoreSet notNullIn notNullInIgnoreSet globalIn globalInIgnoreSet globalNotIn globalNotInIgnoreSet" +
			" globalNullIn globalNullInIgnoreSet globalNotNullIn globalNotNullInIgnoreSet", sqlguard.CodeFunctionNotAllowed, "can read a table that is its argument; write x IN (…)",
	},
	{"_CAST __*", sqlguard.CodeFunctionNotAllowed, "belongs to the server's own plans"},
}

// denied returns the rule for a function of that name in any case, or nil.
func denied(function string) *deniedRule {
	folded := lower(function)
	if rule := deniedNames[folded]; rule != nil {
		return rule
	}
	for _, d := range deniedPrefixes {
		if strings.HasPrefix(folded, d.prefix) {
			return d.rule
		}
	}
	return nil
}

type deniedPrefix struct {
	prefix string
	rule   *deniedRule
}

var deniedNames, deniedPrefixes = func() (names map[string]*deniedRule, prefixes []deniedPrefix) {
	names = map[string]*deniedRule{}
	for i := range deniedFunctions {
		rule := &deniedFunctions[i]
		for n := range strings.FieldsSeq(lower(rule.names)) {
			if prefix, ok := strings.CutSuffix(n, "*"); ok {
				prefixes = append(prefixes, deniedPrefix{prefix, rule})
			} else {
				names[n] = rule
			}
		}
	}
	return names, prefixes
}()

// exactNames are the functions by their exact names, and foldedNames those that the
// server finds in any case, in lower case. The value says whether it aggregates.
var exactNames, foldedNames = func() (exact, folded map[string]bool) {
	exact, folded = map[string]bool{}, map[string]bool{}
	for _, list := range []struct {
		names                string
		aggregate, caseBlind bool
	}{{scalarFunctions, false, false}, {foldedScalarFunctions, false, true}, {aggregateFunctions, true, false}, {foldedAggregateFunctions, true, true}} {
		for n := range strings.FieldsSeq(list.names) {
			exact[n] = list.aggregate
			if list.caseBlind {
				folded[lower(n)] = list.aggregate
			}
		}
	}
	return exact, folded
}()

func lookupFunction(function string) (aggregate, ok bool) {
	if aggregate, ok = exactNames[function]; ok {
		return aggregate, true
	}
	aggregate, ok = foldedNames[lower(function)]
	return aggregate, ok
}

// syntaxFunctions are functions that the server's parser reads and replaces by others.
var syntaxFunctions = wordSet("date_add date_sub dateadd datesub timestampadd timestampsub timestamp_add timestamp_sub extract cast")

// combinators are what can follow the name of an aggregate function. Reference: Aggregate
// Function Combinators.
var combinators = strings.Fields("SimpleState OrDefault Distinct Resample ForEach ArgMax ArgMin OrNull Merge State Array Null Map If")

// maxCombinators bounds how many combinators a name may have.
const maxCombinators = 8

// ruleFunction rules on a function by its name.
func ruleFunction(function string) (name string, rule sqlguard.Ruling, builtin bool) {
	if d := denied(function); d != nil {
		return function, sqlguard.Ruling{Code: d.code, Reason: d.reason}, true
	}
	if _, ok := lookupFunction(function); ok {
		return function, sqlguard.Ruling{Allowed: true}, true
	}
	if syntaxFunctions[lower(function)] {
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
		if aggregate, ok := lookupFunction(rest); ok && aggregate && denied(rest) == nil {
			return function, sqlguard.Ruling{Allowed: true}, true
		}
	}
	if use, ok := tableFunctions[function]; ok || use != "" {
		return function, sqlguard.Ruling{Reason: "it is a table function, for FROM"}, true
	}
	if d, ok := deniedTableFunctions[lower(function)]; ok {
		return function, sqlguard.Ruling{Code: d.code, Reason: d.reason}, true
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
var deniedTables = []deniedRule{
	{"file fileCluster filesystem sqlite deltaLakeLocal icebergLocal icebergLocalCluster hudi paimonLocal", sqlguard.CodeFunctionFileAccess, "reads a file of the server"},
	{
		"url urlCluster s3 s3Cluster gcs oss cosn hdfs hdfsCluster azureBlobStorage azureBlobStorageCluster remote remoteSecure mysql postgresql mongodb redis jdbc" +
			" odbc ytsaurus arrowstream deltaLake deltaLakeAzure deltaLakeAzureCluster deltaLakeCluster deltaLakeS3 deltaLakeS3Cluster hudiCluster iceberg icebergAzure" +
			" icebergAzureCluster icebergCluster icebergHDFS icebergHDFSCluster icebergS3 icebergS3Cluster paimon paimonAzure paimonAzureCluster" +
			" paimonCluster paimonHDFS paimonHDFSCluster paimonS3 paimonS3Cluster prometheusQuery prometheusQueryRange", sqlguard.CodeFunctionNetworkAccess, "connects to another server",
	},
	{"cluster clusterAllReplicas", sqlguard.CodeExternalRelation, "reads a table on other servers"},
	{"eval", sqlguard.CodeDynamicSQL, "runs the text of a query"},
	{"executable", sqlguard.CodeFunctionSideEffect, "runs a program on the server"},
	{"dictionary", sqlguard.CodeFunctionNotAllowed, "reads a dictionary, which the server may load from files or from other servers"},
	{
		"merge loop mergeTreeAnalyzeIndexes mergeTreeAnalyzeIndexesUUID mergeTreeIndex mergeTreeProjection mergeTreeTextIndex timeSeriesData timeSeriesMetrics timeSeriesSamples" +
			" timeSeriesSelector timeSeriesTags", sqlguard.CodeRelationNotAllowed, "reads tables that it names by a pattern or a text",
	},
	{"format fuzzJSON fuzzQuery input SQLStandardValues null viewExplain viewIfPermitted", sqlguard.CodeFunctionNotAllowed, "not on the list of table functions that only make rows"},
}

var deniedTableFunctions = func() map[string]*deniedRule {
	out := map[string]*deniedRule{}
	for i := range deniedTables {
		for n := range strings.FieldsSeq(lower(deniedTables[i].names)) {
			out[n] = &deniedTables[i]
		}
	}
	return out
}()

// ruleTableFunction rules on a table function by its name. Users make none.
func ruleTableFunction(function string) sqlguard.Ruling {
	if tableFunctions[function] != "" {
		return sqlguard.Ruling{Allowed: true}
	}
	if d, ok := deniedTableFunctions[lower(function)]; ok {
		return sqlguard.Ruling{Code: d.code, Reason: d.reason}
	}
	return sqlguard.Ruling{Reason: "not on the list of table functions that only make rows"}
}

func wordSet(list string) map[string]bool {
	m := map[string]bool{}
	for word := range strings.FieldsSeq(list) {
		m[word] = true
	}
	return m
}
