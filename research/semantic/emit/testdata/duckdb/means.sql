SELECT
  q.a0 AS "mean",
  q.a1 AS "different",
  q.a2 AS "some"
FROM (
  SELECT
    AVG(t0."amount") AS a0,
    AVG(DISTINCT t0."quantity") AS a1,
    AVG(CASE WHEN t0."id" IN (1, 2, 5) THEN t0."quantity" END) AS a2
  FROM "orders" AS t0
) AS q
