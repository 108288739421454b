SELECT
  q.d0 AS "status",
  q.a0 AS "revenue"
FROM (
  SELECT
    t0."status" AS d0,
    SUM(t0."amount") AS a0
  FROM "orders" AS t0
  GROUP BY 1
) AS q
ORDER BY q.d0 NULLS LAST
