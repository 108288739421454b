SELECT
  q.d0 AS "day",
  q.a0 AS "n"
FROM (
  SELECT
    toDate32(t0."created_at") AS d0,
    CAST(COUNT(*) AS Int64) AS a0
  FROM "orders" AS t0
  GROUP BY 1
) AS q
ORDER BY q.d0 NULLS LAST
