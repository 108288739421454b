package sqlserver

// costlyFunctions are functions that search a text for another one, or for each of a
// set of characters. costlyOperators are the operators of which the same is true.
var (
	costlyFunctions = map[string]bool{
		"charindex": true, "patindex": true, "replace": true, "translate": true, "trim": true, "ltrim": true, "rtrim": true, "string_split": true,
	}
	costlyOperators = map[string]bool{}
)
