// Package demo holds a small shop database as an SQLite file and as CSV files, a wiki page
// and measures about it, and the queries that ktx demo shows on it. The database is made by
// gen from a fixed seed.
package demo

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	_ "embed"
	"fmt"
	"io"
)

//go:generate go run ./gen

//go:embed shop.db.gz
var packed []byte

// Database returns the shop as an SQLite database file, with the tables customers,
// products, orders and order_items. All data in it is made up.
func Database() []byte {
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		panic(fmt.Sprintf("demo: %v", err)) // the file is part of the program
	}
	text, err := io.ReadAll(r)
	if err != nil {
		panic(fmt.Sprintf("demo: %v", err))
	}
	return text
}

//go:embed shop.zip
var files []byte

// Files returns the tables of the shop as CSV files, by their names.
func Files() map[string][]byte {
	r, err := zip.NewReader(bytes.NewReader(files), int64(len(files)))
	if err != nil {
		panic(fmt.Sprintf("demo: %v", err)) // the archive is part of the program
	}
	out := map[string][]byte{}
	for _, f := range r.File {
		in, err := f.Open()
		if err == nil {
			out[f.Name], err = io.ReadAll(in)
		}
		if err != nil {
			panic(fmt.Sprintf("demo: %v", err))
		}
	}
	return out
}

// Page is a wiki page that says what the shop counts as revenue.
//
//go:embed revenue.md
var Page []byte

// PageKey is the key of [Page] in the wiki.
const PageKey = "revenue"

// The measures of the shop, as files of its semantic layer.
var (
	//go:embed orders.yaml
	orders []byte
	//go:embed order_items.yaml
	orderItems []byte
)

// Sources returns the files of the semantic layer, by their names. Files have no keys, so
// those for the shop as files say what identifies a row.
func Sources(asFiles bool) map[string][]byte {
	out := map[string][]byte{"orders.yaml": orders, "order_items.yaml": orderItems}
	if !asFiles {
		return out
	}
	for source, key := range map[string]string{"customers": "id", "products": "id", "orders": "id", "order_items": "order_id, product_id"} {
		text := bytes.Clone(out[source+".yaml"])
		if text == nil {
			text = []byte("name: " + source + "\n")
		}
		out[source+".yaml"] = append(text, "grain: ["+key+"]\n"...)
	}
	return out
}

// Facts is a question about two tables of facts. Naive joins them, and counts the total
// of an order once for each of its items.
var Facts = struct {
	Question, Naive      string
	Measures, Dimensions []string
}{
	Question: "How much revenue and how many units does each country bring?",
	Naive: `SELECT c.country, round(sum(o.total), 2) AS revenue, sum(i.quantity) AS units
FROM orders AS o JOIN customers AS c ON c.id = o.customer_id JOIN order_items AS i ON i.order_id = o.id
WHERE o.status <> 'cancelled'
GROUP BY c.country ORDER BY revenue DESC LIMIT 3`,
	Measures:   []string{"orders.revenue", "order_items.units"},
	Dimensions: []string{"customers.country"},
}

// Query is a statement and the question that it answers.
type Query struct{ Question, SQL string }

// Allowed is the query that the gateway allows.
var Allowed = Query{
	"Which customer cities have the most orders this year, and what is their average total?",
	`SELECT c.city, count(*) AS orders, round(avg(o.total), 2) AS average
FROM orders AS o JOIN customers AS c ON c.id = o.customer_id
WHERE o.ordered_at >= '2026-01-01' AND o.status <> 'cancelled'
GROUP BY c.city ORDER BY orders DESC, c.city LIMIT 5`,
}

// Attacks returns statements that the gateway refuses.
func Attacks(asFiles bool) []Query {
	if asFiles {
		return onFiles
	}
	return onSQLite
}

var onFiles = []Query{
	{"a write behind a harmless WITH", `WITH late AS (SELECT id FROM orders WHERE status = 'late') DELETE FROM orders WHERE id IN (SELECT id FROM late)`},
	{"a second statement", `SELECT * FROM customers WHERE id = 1; DROP TABLE customers`},
	{"a function that reads a file", `SELECT name, content FROM products, read_text('/etc/passwd')`},
	{"a file as a table", `SELECT * FROM '/etc/hosts.csv'`},
	{"a copy of the rows to a file", `COPY customers TO '/tmp/copy.csv'`},
}

var onSQLite = []Query{
	{"a write behind a harmless WITH", `WITH late AS (SELECT id FROM orders WHERE status = 'late') DELETE FROM orders WHERE id IN (SELECT id FROM late)`},
	{"a second statement", `SELECT * FROM customers WHERE id = 1; DROP TABLE customers`},
	{"a function that loads code", `SELECT name, load_extension('/tmp/payload.so') FROM products`},
	{"a copy of the database to a file", `VACUUM INTO '/tmp/copy.db'`},
	{"a switch that makes the schema writable", `PRAGMA writable_schema = 1`},
}
