// Package dialects lists the SQL languages that the product reads.
//
// Each lives in a package of its own below this one and implements
// [sqlguard.Dialect]. [All] is the list, [Lookup] finds one by name. ADDING.md
// says what a further one must bring.
//
// The package holds no rule and no parser of its own, and nothing registers
// itself here: the list is written out.
package dialects
