SELECT
  q.d0 AS "status",
  q.a0 AS "median",
  q.a1 AS "high"
FROM (
  SELECT
    t0."status" AS d0,
    QUANTILE_CONT(CAST(t0."amount" AS DOUBLE), 0.5) AS a0,
    QUANTILE_CONT(CAST(CASE WHEN t0."paid" THEN t0."amount" END AS DOUBLE), 0.9) AS a1
  FROM "orders" AS t0
  GROUP BY 1
) AS q
ORDER BY q.d0 NULLS LAST
