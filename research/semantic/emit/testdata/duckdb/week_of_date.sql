SELECT
  q.d0 AS "week",
  q.a0 AS "n"
FROM (
  SELECT
    CAST(DATE_TRUNC('week', CAST(t0."order_date" AS timestamp)) AS date) AS d0,
    COUNT(*) AS a0
  FROM "orders" AS t0
  GROUP BY 1
) AS q
ORDER BY q.d0 NULLS LAST
