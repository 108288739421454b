// Command gen makes the database of ktx demo: ../shop.db.gz for SQLite, and the same tables
// as files in ../shop.zip for DuckDB. The same seed gives the same rows; go generate runs it.
package main

import (
	"archive/zip"
	"bytes"
	"cmp"
	"compress/flate"
	"compress/gzip"
	"encoding/csv"
	"fmt"
	"io"
	"log"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/ncruces/go-sqlite3"
)

const schema = `
PRAGMA page_size = 4096;
CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL, city TEXT NOT NULL, country TEXT NOT NULL, joined_at TEXT NOT NULL);
CREATE TABLE products (id INTEGER PRIMARY KEY, name TEXT NOT NULL, category TEXT NOT NULL, price NUMERIC NOT NULL, stock INTEGER NOT NULL);
CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL REFERENCES customers(id), status TEXT NOT NULL, total NUMERIC NOT NULL, ordered_at TEXT NOT NULL, shipped_at TEXT);
CREATE TABLE order_items (order_id INTEGER NOT NULL REFERENCES orders(id), product_id INTEGER NOT NULL REFERENCES products(id), quantity INTEGER NOT NULL, price NUMERIC NOT NULL, PRIMARY KEY (order_id, product_id));
CREATE INDEX orders_customer ON orders(customer_id);
CREATE VIEW revenue_by_month AS SELECT substr(ordered_at, 1, 7) AS month, count(*) AS orders, sum(total) AS revenue FROM orders WHERE status <> 'cancelled' GROUP BY month;
`

var (
	first = []string{"Ada", "Bruno", "Chiara", "Deniz", "Elif", "Femi", "Greta", "Hugo", "Ines", "Jonas", "Kaia", "Liam", "Mira", "Noor", "Oskar", "Priya", "Quinn", "Rosa", "Sven", "Tala"}
	last  = []string{"Almeida", "Berg", "Costa", "Demir", "Eriksen", "Fischer", "García", "Hansen", "Ito", "Jensen", "Kaya", "Lindqvist", "Moreau", "Novák", "Okafor", "Petrov", "Rossi", "Silva", "Tanaka", "Weber"}
	place = [][2]string{{"Berlin", "DE"}, {"Lisbon", "PT"}, {"Oslo", "NO"}, {"Lyon", "FR"}, {"Kraków", "PL"}, {"Torino", "IT"}, {"Gent", "BE"}, {"Malmö", "SE"}, {"İzmir", "TR"}, {"Cork", "IE"}}
	goods = map[string][]string{
		"Kitchen": {"Kettle", "Bread Knife", "Moka Pot", "Mixing Bowl", "Scale", "Grater", "Apron", "Teapot"},
		"Garden":  {"Trowel", "Watering Can", "Seed Tray", "Gloves", "Rake", "Planter"},
		"Office":  {"Notebook", "Desk Lamp", "Fountain Pen", "Stapler", "Cork Board", "Paper Tray"},
		"Outdoor": {"Head Torch", "Dry Bag", "Camp Stove", "Sleeping Mat", "Water Filter", "Compass"},
	}
	categories = []string{"Kitchen", "Garden", "Office", "Outdoor"}
)

func main() {
	_, self, _, _ := runtime.Caller(0)
	if err := pack(filepath.Join(filepath.Dir(self), "..")); err != nil {
		log.Fatal(err)
	}
}

// pack makes the database and compresses it. It leaves files that hold the same database:
// another version of the compressor may write other bytes.
func pack(folder string) error {
	dir, err := os.MkdirTemp("", "ktx-demo-")
	if err != nil {
		return fmt.Errorf("make a folder: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	made := filepath.Join(dir, "shop.db")
	if err := generate(made); err != nil {
		return err
	}
	if err := packFiles(made, filepath.Join(folder, "shop.zip")); err != nil {
		return err
	}
	return packDatabase(made, filepath.Join(folder, "shop.db.gz"))
}

func packDatabase(name, target string) error {
	made, err := os.ReadFile(name) //nolint:gosec // its own file
	if err != nil {
		return fmt.Errorf("read the database: %w", err)
	}
	if old, err := unpack(target); err == nil && bytes.Equal(old, made) {
		return nil
	}
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return fmt.Errorf("compress the database: %w", err)
	}
	if _, err := w.Write(made); err != nil {
		return fmt.Errorf("compress the database: %w", err)
	}
	if err := w.Close(); err != nil {
		return fmt.Errorf("compress the database: %w", err)
	}
	return os.WriteFile(target, b.Bytes(), 0o644) //nolint:gosec // a file of the source
}

// tables are the tables that become files, with their order.
var tables = []struct{ name, order string }{
	{"customers", "id"}, {"products", "id"}, {"orders", "id"}, {"order_items", "order_id, product_id"},
}

// packFiles writes the tables of a database as CSV files into an archive.
func packFiles(database, target string) error {
	made, err := exported(database)
	if err != nil {
		return err
	}
	if old, err := unzip(target); err == nil && maps.EqualFunc(old, made, bytes.Equal) {
		return nil
	}
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	w.RegisterCompressor(zip.Deflate, func(out io.Writer) (io.WriteCloser, error) { return flate.NewWriter(out, flate.BestCompression) })
	for _, t := range tables {
		f, err := w.Create(t.name + ".csv")
		if err != nil {
			return fmt.Errorf("compress the files: %w", err)
		}
		if _, err := f.Write(made[t.name+".csv"]); err != nil {
			return fmt.Errorf("compress the files: %w", err)
		}
	}
	if err := w.Close(); err != nil {
		return fmt.Errorf("compress the files: %w", err)
	}
	return os.WriteFile(target, b.Bytes(), 0o644) //nolint:gosec // a file of the source
}

// exported returns the tables of a database as CSV files.
func exported(database string) (map[string][]byte, error) {
	db, err := sqlite3.OpenFlags("file:"+database, sqlite3.OPEN_READONLY)
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	defer func() { _ = db.Close() }()
	files := map[string][]byte{}
	for _, t := range tables {
		stmt, _, err := db.Prepare("SELECT * FROM " + t.name + " ORDER BY " + t.order)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", t.name, err)
		}
		var b bytes.Buffer
		w := csv.NewWriter(&b)
		row := make([]string, stmt.ColumnCount())
		for i := range row {
			row[i] = stmt.ColumnName(i)
		}
		err = w.Write(row)
		for err == nil && stmt.Step() {
			for i := range row {
				row[i] = stmt.ColumnText(i)
			}
			err = w.Write(row)
		}
		w.Flush()
		if err := cmp.Or(err, stmt.Err(), stmt.Close(), w.Error()); err != nil {
			return nil, fmt.Errorf("read %s: %w", t.name, err)
		}
		files[t.name+".csv"] = b.Bytes()
	}
	return files, nil
}

func unzip(name string) (map[string][]byte, error) {
	r, err := zip.OpenReader(name)
	if err != nil {
		return nil, fmt.Errorf("open the files: %w", err)
	}
	defer func() { _ = r.Close() }()
	files := map[string][]byte{}
	for _, f := range r.File {
		in, err := f.Open()
		if err != nil {
			return nil, fmt.Errorf("uncompress the files: %w", err)
		}
		files[f.Name], err = io.ReadAll(in)
		if err := cmp.Or(err, in.Close()); err != nil {
			return nil, fmt.Errorf("uncompress the files: %w", err)
		}
	}
	return files, nil
}

func unpack(name string) ([]byte, error) {
	f, err := os.Open(name) //nolint:gosec // a file of the source
	if err != nil {
		return nil, fmt.Errorf("open the database: %w", err)
	}
	defer func() { _ = f.Close() }()
	r, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("uncompress the database: %w", err)
	}
	return io.ReadAll(r)
}

func generate(target string) error {
	if err := os.Remove(target); err != nil && !os.IsNotExist(err) {
		return fmt.Errorf("remove old database: %w", err)
	}
	db, err := sqlite3.Open("file:" + target)
	if err != nil {
		return fmt.Errorf("open database: %w", err)
	}
	defer func() { _ = db.Close() }()
	if err := db.Exec(schema + "BEGIN"); err != nil {
		return fmt.Errorf("make schema: %w", err)
	}
	g := generator{db: db, r: rand.New(rand.NewPCG(20260101, 7))} //nolint:gosec // the rows are to be the same each time
	for _, step := range []func() error{g.customers, g.products, g.orders} {
		if err := step(); err != nil {
			return err
		}
	}
	if err := db.Exec("COMMIT; VACUUM"); err != nil {
		return fmt.Errorf("finish database: %w", err)
	}
	return nil
}

type generator struct {
	db     *sqlite3.Conn
	r      *rand.Rand
	prices []int // in cents, by product
}

func (g *generator) insert(sql string, args ...any) error {
	stmt, _, err := g.db.Prepare(sql)
	if err != nil {
		return fmt.Errorf("prepare: %w", err)
	}
	defer func() { _ = stmt.Close() }()
	for i, arg := range args {
		switch v := arg.(type) {
		case int:
			err = stmt.BindInt(i+1, v)
		case string:
			err = stmt.BindText(i+1, v)
		case nil:
			err = stmt.BindNull(i + 1)
		}
		if err != nil {
			return fmt.Errorf("bind: %w", err)
		}
	}
	if err := stmt.Exec(); err != nil {
		return fmt.Errorf("insert: %w", err)
	}
	return nil
}

func cents(n int) string { return fmt.Sprintf("%d.%02d", n/100, n%100) }

func (g *generator) customers() error {
	start := time.Date(2023, 1, 9, 0, 0, 0, 0, time.UTC)
	for i := range 120 {
		f, l, p := first[g.r.IntN(len(first))], last[g.r.IntN(len(last))], place[min(g.r.IntN(len(place)), g.r.IntN(len(place)))]
		joined := start.AddDate(0, 0, g.r.IntN(1300)).Format(time.DateOnly)
		if err := g.insert(`INSERT INTO customers VALUES (?, ?, ?, ?, ?, ?)`, i+1, f+" "+l, fmt.Sprintf("customer%d@shop.example", i+1), p[0], p[1], joined); err != nil {
			return err
		}
	}
	return nil
}

func (g *generator) products() error {
	for _, category := range categories {
		for _, name := range goods[category] {
			price := 290 + g.r.IntN(90)*100 + g.r.IntN(2)*50
			g.prices = append(g.prices, price)
			if err := g.insert(`INSERT INTO products VALUES (?, ?, ?, CAST(? AS NUMERIC), ?)`, len(g.prices), name, category, cents(price), g.r.IntN(400)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (g *generator) orders() error {
	start := time.Date(2025, 1, 2, 8, 0, 0, 0, time.UTC)
	statuses := []string{"delivered", "delivered", "delivered", "delivered", "shipped", "paid", "late", "cancelled"}
	for id := range 900 {
		id++
		ordered := start.Add(time.Duration(id) * 18 * time.Hour).Add(time.Duration(g.r.IntN(600)) * time.Minute)
		status, total := statuses[g.r.IntN(len(statuses))], 0
		lines := g.r.Perm(len(g.prices))[:1+g.r.IntN(4)]
		quantities := make([]int, len(lines))
		for i, product := range lines {
			quantities[i] = 1 + g.r.IntN(3)
			total += quantities[i] * g.prices[product]
		}
		var shipped any
		if status == "delivered" || status == "shipped" {
			shipped = ordered.Add(time.Duration(20+g.r.IntN(90)) * time.Hour).Format(time.DateTime)
		}
		if err := g.insert(`INSERT INTO orders VALUES (?, ?, ?, CAST(? AS NUMERIC), ?, ?)`, id, 1+g.r.IntN(120), status, cents(total), ordered.Format(time.DateTime), shipped); err != nil {
			return err
		}
		for i, product := range lines {
			if err := g.insert(`INSERT INTO order_items VALUES (?, ?, ?, CAST(? AS NUMERIC))`, id, product+1, quantities[i], cents(g.prices[product])); err != nil {
				return err
			}
		}
	}
	return nil
}
