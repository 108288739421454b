package pgstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/ktxhq/ktx/research/skills"
)

// Dimensions are those of the column of vectors.
const Dimensions = 768

// Store is a [skills.State] in PostgreSQL. It connects at the first call, and makes its
// tables if they are missing.
type Store struct {
	config *pgconn.Config
	tenant string

	mu    sync.Mutex
	conn  *pgconn.PgConn // nil until the first call, and after a connection that broke
	ready bool
	until time.Time // the database is not asked again until then
	last  error     // why
}

var _ skills.State = (*Store)(nil)

// The limits of a call.
const (
	timeLimit = 5 * time.Second
	pause     = 30 * time.Second // after a database that cannot be reached
)

// New returns a store for a tenant. It does not connect. Unless the address says
// otherwise, connections to another machine verify the certificate of the server.
func New(address, tenant string) (*Store, error) {
	address, err := verified(address)
	if err != nil {
		return nil, err
	}
	config, err := pgconn.ParseConfig(address)
	if err != nil {
		return nil, errors.New("it is no address of a PostgreSQL database") // the error has the password
	}
	config.ConnectTimeout = timeLimit
	config.RuntimeParams["application_name"] = "ktx skills"
	return &Store{config: config, tenant: tenant}, nil
}

// verified returns an address with its mode of TLS.
func verified(address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" {
		return "", errors.New("it is no postgres:// address")
	}
	q := u.Query()
	switch mode := q.Get("sslmode"); mode {
	case "verify-full", "disable":
	case "":
		host := cmp.Or(u.Hostname(), q.Get("host"))
		ip := net.ParseIP(host)
		if host == "" || host == "localhost" || strings.HasPrefix(host, "/") || ip != nil && ip.IsLoopback() {
			return address, nil
		}
		q.Set("sslmode", "verify-full")
		u.RawQuery = q.Encode()
	default:
		return "", errors.New("sslmode does not verify the server; write verify-full, or disable for a network that you trust")
	}
	return u.String(), nil
}

// Close ends the connection.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), timeLimit)
	defer cancel()
	err := s.conn.Close(ctx)
	s.conn = nil
	return err
}

// with calls f in a transaction. A database that cannot be reached is not asked again for
// some time, so that it does not hold up every call.
func (s *Store) with(ctx context.Context, f func(context.Context, sender) error) error {
	s.mu.Lock() // calls are short, and take turns on one connection
	defer s.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	if time.Now().Before(s.until) {
		return s.last
	}
	limited, cancel := context.WithTimeout(ctx, timeLimit)
	defer cancel()
	old := s.conn != nil
	err := s.try(limited, f)
	if err != nil && old && s.conn != nil && s.conn.IsClosed() { // the server has started anew since
		err = s.try(limited, f)
	}
	if err == nil || ctx.Err() != nil {
		return err
	}
	err = fmt.Errorf("the database of skills.store: %w", reason(err))
	if _, answered := errors.AsType[*pgconn.PgError](err); !answered {
		s.until, s.last = time.Now().Add(pause), err
	}
	return err
}

// try is one attempt of with.
func (s *Store) try(ctx context.Context, f func(context.Context, sender) error) error {
	if err := s.prepare(ctx); err != nil {
		return err
	}
	return s.transact(ctx, func(tx sender) error { return f(ctx, tx) })
}

// reason returns an error without the address of the database.
func reason(err error) error {
	if _, ok := errors.AsType[*pgconn.PgError](err); ok {
		return err
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("no answer within %s", timeLimit)
	}
	if op, ok := errors.AsType[*net.OpError](err); ok {
		return fmt.Errorf("it cannot be reached: %w", op.Err)
	}
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return errors.New("it cannot be reached")
	}
	return err
}

// schema is what the store needs. Equal statements of other processes wait for each other.
var schema = []statement{
	`SELECT pg_advisory_xact_lock(5491738210)`,
	`CREATE EXTENSION IF NOT EXISTS vector`,
	`CREATE TABLE IF NOT EXISTS ktx_skill_uses (tenant text, name text, uses bigint NOT NULL, PRIMARY KEY (tenant, name))`,
	`CREATE TABLE IF NOT EXISTS ktx_skill_ratings (tenant text, name text, rater text, stars int NOT NULL CHECK (stars BETWEEN 1 AND 5), comment text NOT NULL, time timestamptz NOT NULL, PRIMARY KEY (tenant, name, rater))`,
	`CREATE TABLE IF NOT EXISTS ktx_skill_vectors (tenant text, model text, text text, status text NOT NULL, embedding vector(768) NOT NULL, PRIMARY KEY (tenant, model, text))`,
	`CREATE INDEX IF NOT EXISTS ktx_skill_vectors_nearest ON ktx_skill_vectors USING hnsw (embedding vector_cosine_ops)`,
}

// prepare connects if there is no connection, and makes the tables, once.
func (s *Store) prepare(ctx context.Context) error {
	if s.conn != nil && s.conn.IsClosed() {
		s.conn = nil
	}
	if s.conn == nil {
		conn, err := pgconn.ConnectConfig(ctx, s.config)
		if err != nil {
			return err
		}
		s.conn = conn
	}
	if s.ready {
		return nil
	}
	err := s.transact(ctx, func(tx sender) error {
		known := 0
		err := tx.rows(ctx, number(&known),
			`SELECT count(*) FROM pg_catalog.pg_class WHERE relname = 'ktx_skill_vectors_nearest' AND pg_catalog.pg_table_is_visible(oid)`)
		if err != nil || known > 0 { // a role that may not make tables uses those that are there
			return err
		}
		for _, sql := range schema {
			if err := tx.exec(ctx, sql); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	version := ""
	err = s.transact(ctx, func(tx sender) error {
		return tx.rows(ctx, func(row []string) error { version = row[0]; return nil }, `SELECT extversion FROM pg_catalog.pg_extension WHERE extname = 'vector'`)
	})
	if err != nil {
		return err
	}
	major, rest, _ := strings.Cut(version, ".")
	minor, _, _ := strings.Cut(rest, ".")
	if n, err := strconv.Atoi(minor); major == "0" && (err != nil || n < 8) {
		return fmt.Errorf("it has pgvector %s; 0.8 or newer is needed", version)
	}
	s.ready = true
	return nil
}

// number keeps the only value of a row.
func number(n *int) func([]string) error {
	return func(row []string) (err error) {
		*n, err = strconv.Atoi(row[0])
		return err
	}
}

// Counts implements [skills.State].
func (s *Store) Counts(ctx context.Context, names []string) (map[string]skills.Counts, error) {
	out := map[string]skills.Counts{}
	all := names == nil
	if all {
		names = []string{}
	}
	err := s.with(ctx, func(ctx context.Context, tx sender) error {
		err := tx.rows(ctx, func(row []string) error {
			uses, err := strconv.Atoi(row[1])
			out[row[0]] = skills.Counts{Uses: uses}
			return err
		}, `SELECT name, uses FROM ktx_skill_uses WHERE tenant = $1 AND ($2 OR name = ANY ($3))`, s.tenant, all, names)
		if err != nil {
			return err
		}
		return tx.rows(ctx, func(row []string) error {
			stars, err := strconv.Atoi(row[1])
			n, errCount := strconv.Atoi(row[2])
			if err = errors.Join(err, errCount); err != nil {
				return err
			}
			c := out[row[0]]
			c.Stars[stars-1] = n
			out[row[0]] = c
			return nil
		}, `SELECT name, stars, count(*) FROM ktx_skill_ratings WHERE tenant = $1 AND ($2 OR name = ANY ($3)) GROUP BY name, stars`, s.tenant, all, names)
	})
	if err != nil {
		return map[string]skills.Counts{}, err
	}
	return out, nil
}

// Use implements [skills.State].
func (s *Store) Use(ctx context.Context, name string) error {
	return s.with(ctx, func(ctx context.Context, tx sender) error {
		return tx.exec(ctx, `INSERT INTO ktx_skill_uses AS u VALUES ($1, $2, 1) ON CONFLICT (tenant, name) DO UPDATE SET uses = u.uses + 1`, s.tenant, name)
	})
}

// Rate implements [skills.State].
func (s *Store) Rate(ctx context.Context, r skills.Rating) error {
	if err := r.Validate(); err != nil {
		return err
	}
	return s.with(ctx, func(ctx context.Context, tx sender) error {
		return tx.exec(ctx, `INSERT INTO ktx_skill_ratings VALUES ($1, $2, $3, $4, $5, $6)
			ON CONFLICT (tenant, name, rater) DO UPDATE SET stars = excluded.stars, comment = excluded.comment, time = excluded.time`,
			s.tenant, r.Skill, r.Rater, r.Stars, r.Comment, time.Unix(r.Time.Unix(), 0).UTC())
	})
}

// Ratings implements [skills.State].
func (s *Store) Ratings(ctx context.Context, name string, limit int) ([]skills.Rating, error) {
	out := []skills.Rating{}
	err := s.with(ctx, func(ctx context.Context, tx sender) error {
		return tx.rows(ctx, func(row []string) error {
			stars, err := strconv.Atoi(row[1])
			seconds, errTime := strconv.ParseInt(row[3], 10, 64)
			out = append(out, skills.Rating{Skill: name, Rater: row[0], Stars: stars, Comment: row[2], Time: time.Unix(seconds, 0).UTC()})
			return errors.Join(err, errTime)
		}, `SELECT rater, stars, comment, extract(epoch FROM time)::bigint FROM ktx_skill_ratings WHERE tenant = $1 AND name = $2 ORDER BY time DESC, rater COLLATE "C" LIMIT $3`, s.tenant, name, limit)
	})
	return out, err
}

// Publish implements [skills.State].
func (s *Store) Publish(ctx context.Context, model skills.Model, texts []string) error {
	if texts == nil {
		texts = []string{}
	}
	return s.with(ctx, func(ctx context.Context, tx sender) error {
		return tx.exec(ctx, `UPDATE ktx_skill_vectors SET status = CASE WHEN text = ANY ($3) THEN 'published' ELSE 'retired' END
			WHERE tenant = $1 AND model = $2 AND status <> CASE WHEN text = ANY ($3) THEN 'published' ELSE 'retired' END`, s.tenant, model.Name, texts)
	})
}

// check reports a model whose vectors the column does not take.
func check(model skills.Model) error {
	if model.Dimensions != Dimensions {
		return fmt.Errorf("the database of skills.store keeps vectors with %d dimensions, and those of %s have %d", Dimensions, model.Name, model.Dimensions)
	}
	return nil
}

// Missing implements [skills.State].
func (s *Store) Missing(ctx context.Context, model skills.Model, texts []string) ([]string, error) {
	if err := check(model); err != nil {
		return nil, err
	}
	known := map[string]bool{}
	err := s.with(ctx, func(ctx context.Context, tx sender) error {
		return tx.rows(ctx, func(row []string) error {
			known[row[0]] = true
			return nil
		}, `SELECT text FROM ktx_skill_vectors WHERE tenant = $1 AND model = $2`, s.tenant, model.Name)
	})
	return slices.DeleteFunc(slices.Clone(texts), func(t string) bool { return known[t] }), err
}

// Put implements [skills.State].
func (s *Store) Put(ctx context.Context, model skills.Model, vectors []skills.Vector) error {
	if err := check(model); err != nil {
		return err
	}
	for _, v := range vectors {
		if err := v.Validate(model); err != nil {
			return err
		}
	}
	return s.with(ctx, func(ctx context.Context, tx sender) error {
		for _, v := range vectors {
			err := tx.exec(ctx, `INSERT INTO ktx_skill_vectors VALUES ($1, $2, $3, 'published', $4::text::vector)
				ON CONFLICT (tenant, model, text) DO UPDATE SET status = excluded.status, embedding = excluded.embedding`, s.tenant, model.Name, v.Text, encode(v.Values))
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// encode writes a vector as pgvector reads it.
func encode(v []float32) string {
	b := []byte{'['}
	for i, x := range v {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendFloat(b, float64(x), 'g', -1, 32)
	}
	return string(append(b, ']'))
}

// decode reads a vector as pgvector writes it.
func decode(text string) ([]float32, error) {
	parts := strings.Split(strings.Trim(text, "[]"), ",")
	out := make([]float32, len(parts))
	for i, p := range parts {
		x, err := strconv.ParseFloat(p, 32)
		if err != nil {
			return nil, fmt.Errorf("read a vector: %w", err)
		}
		out[i] = float32(x)
	}
	return out, nil
}

// Vectors implements [skills.State].
func (s *Store) Vectors(ctx context.Context, model skills.Model) (n int, err error) {
	if err := check(model); err != nil {
		return 0, err
	}
	err = s.with(ctx, func(ctx context.Context, tx sender) error {
		return tx.rows(ctx, number(&n),
			`SELECT count(*) FROM ktx_skill_vectors WHERE tenant = $1 AND model = $2 AND status = 'published'`, s.tenant, model.Name)
	})
	return n, err
}

// Vector implements [skills.State].
func (s *Store) Vector(ctx context.Context, model skills.Model, text string) (vector []float32, err error) {
	if err := check(model); err != nil {
		return nil, err
	}
	err = s.with(ctx, func(ctx context.Context, tx sender) error {
		return tx.rows(ctx, func(row []string) error {
			vector, err = decode(row[0])
			return err
		}, `SELECT embedding::text FROM ktx_skill_vectors WHERE tenant = $1 AND model = $2 AND text = $3`, s.tenant, model.Name, text)
	})
	return vector, err
}

// Nearest implements [skills.State]. The index finds the nearest vectors, some more than
// asked for; their similarities are computed as in every store, so that they are equal.
func (s *Store) Nearest(ctx context.Context, model skills.Model, vector []float32, limit int) ([]skills.Near, error) {
	if err := check(model); err != nil {
		return nil, err
	}
	if err := (skills.Vector{Text: "question", Values: vector}).Validate(model); err != nil {
		return nil, err
	}
	out := []skills.Near{}
	err := s.with(ctx, func(ctx context.Context, tx sender) error {
		// The index also goes through vectors of others; it goes on until enough fit.
		if err := tx.exec(ctx, `SET LOCAL hnsw.iterative_scan = strict_order`); err != nil {
			return err
		}
		if err := tx.exec(ctx, `SET LOCAL hnsw.ef_search = 200`); err != nil {
			return err
		}
		return tx.rows(ctx, func(row []string) error {
			v, err := decode(row[1])
			out = append(out, skills.Near{Text: row[0], Similarity: skills.Similarity(vector, v)})
			return err
		}, `SELECT text, embedding::text FROM ktx_skill_vectors WHERE tenant = $1 AND model = $2 AND status = 'published' ORDER BY embedding <=> $3::text::vector LIMIT $4`,
			s.tenant, model.Name, encode(vector), 2*limit+16)
	})
	slices.SortFunc(out, func(a, b skills.Near) int {
		return cmp.Or(cmp.Compare(b.Similarity, a.Similarity), strings.Compare(a.Text, b.Text))
	})
	return out[:min(limit, len(out))], err
}
