SELECT
  q.d0 AS "id",
  COALESCE(ROUND(TRY_CAST(CAST(q.a0 AS VARCHAR) AS DECIMAL(38, 18)), 0), ROUND(q.a0, 0)) AS "r",
  COALESCE(ROUND(TRY_CAST(CAST(q.a0 AS VARCHAR) AS DECIMAL(38, 18)), 1), ROUND(q.a0, 1)) AS "r1",
  COALESCE(ROUND(TRY_CAST(CAST(CAST(q.a1 AS DOUBLE) / 2 AS VARCHAR) AS DECIMAL(38, 18)), 0), ROUND(CAST(q.a1 AS DOUBLE) / 2, 0)) AS "half",
  COALESCE(ROUND(TRY_CAST(CAST(CAST(-q.a1 AS DOUBLE) / 2 AS VARCHAR) AS DECIMAL(38, 18)), 0), ROUND(CAST(-q.a1 AS DOUBLE) / 2, 0)) AS "minus half",
  FLOOR(q.a0) AS "f",
  CEIL(-q.a0) AS "c",
  ABS(-q.a0) AS "a",
  q.a2 AS "s",
  q.a3 AS "hundred",
  q.a4 AS "net",
  q.a5 AS "paid",
  q.a6 AS "some"
FROM (
  SELECT
    t0."id" AS d0,
    SUM(t0."amount") AS a0,
    SUM(t0."quantity") AS a1,
    SUM((t0."quantity" * 0.5) - (-1)) AS a2,
    SUM(1e2 * t0."quantity") AS a3,
    SUM(t0."amount" - t0."quantity") AS a4,
    FSUM(CASE WHEN t0."paid" THEN 1 WHEN NOT t0."paid" THEN 0 END) AS a5,
    MAX(CASE WHEN t0."quantity" <> 0 THEN 1 WHEN NOT (t0."quantity" <> 0) THEN 0 END) AS a6
  FROM "orders" AS t0
  GROUP BY 1
) AS q
ORDER BY q.d0 NULLS LAST
