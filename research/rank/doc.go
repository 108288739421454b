// Package rank ranks short texts by a question: names of tables and columns,
// descriptions, passages of wiki pages.
//
// An [Analyzer] splits texts and questions into words. A [Builder] takes documents,
// whose texts belong to weighted fields, and makes an [Index] of them. [Search]
// scores the documents of one or more indexes by BM25F. [Fuse] merges the ranked
// lists of several kinds of objects into one.
//
//	a := rank.NewAnalyzer(nil)
//	b := rank.NewBuilder(a, []rank.Field{{Name: "name", Weight: 3, B: 0.5}, {Name: "comment", Weight: 1, B: 0.75}})
//	b.Add(rank.Text{Field: 0, Text: "order_items"}, rank.Text{Field: 1, Text: "One row for each product of an order."})
//	hits := rank.Search(a.Query("which products were ordered"), b.Index())
//
// The package is pure: it reads no file, no clock and no random number. Equal input
// gives equal results, bit for bit. It has no model and learns nothing.
package rank
