-- The database on which the statements of verdicts.txt are prepared.
CREATE TABLE t (a, b, c, x INTEGER, y REAL, z TEXT, k TEXT, v, ts TEXT, doc TEXT);
CREATE TABLE u (a, b, c, id INTEGER PRIMARY KEY AUTOINCREMENT, t_id);
CREATE TABLE w (id INTEGER PRIMARY KEY, parent, name TEXT, a, g AS (a + 1) STORED, "key" TEXT, "order" TEXT);
CREATE TABLE "select" ("from", "a b", [c d]);
CREATE TABLE "odd""name" (id);
CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT, email TEXT, replace TEXT);
CREATE INDEX t_x ON t (x);
CREATE INDEX t_e ON t (lower(z)) WHERE z IS NOT NULL;
CREATE VIEW tv AS SELECT a, upper(z) AS z FROM t;
CREATE VIRTUAL TABLE docs USING fts5(title, body);
CREATE TABLE größe (id, naïve);
CREATE TRIGGER u_ai AFTER INSERT ON u BEGIN UPDATE t SET a = 1; DELETE FROM w; END;
