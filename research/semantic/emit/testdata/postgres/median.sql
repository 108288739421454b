SELECT
  q.d0 AS "status",
  q.a0 AS "median",
  q.a1 AS "high"
FROM (
  SELECT
    t0."status" AS d0,
    PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY CAST(t0."amount" AS double precision)) AS a0,
    PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY CAST(CASE WHEN t0."paid" THEN t0."amount" END AS double precision)) AS a1
  FROM "orders" AS t0
  GROUP BY 1
) AS q
ORDER BY q.d0 NULLS LAST
