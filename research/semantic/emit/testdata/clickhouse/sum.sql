SELECT
  q.a0 AS "revenue"
FROM (
  SELECT
    SUMOrNull(t0."amount") AS a0
  FROM "orders" AS t0
) AS q
