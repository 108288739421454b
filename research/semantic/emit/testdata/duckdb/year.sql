SELECT
  q.d0 AS "year",
  q.d1 AS "other year",
  q.a0 AS "n"
FROM (
  SELECT
    CAST(DATE_TRUNC('year', CAST(t0."created_at" AS timestamp)) AS date) AS d0,
    CAST(DATE_TRUNC('year', CAST(t0."order_date" AS timestamp)) AS date) AS d1,
    COUNT(*) AS a0
  FROM "orders" AS t0
  GROUP BY 1, 2
) AS q
ORDER BY q.d0 NULLS LAST, q.d1 NULLS LAST
