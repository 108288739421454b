SELECT
  q.d0 AS "id",
  COALESCE(CAST(ROUND(toDecimal256(CAST(q.a0 AS Nullable(String)), 20), 0) AS Nullable(Float64)), CAST(q.a0 AS Nullable(Float64))) AS "r",
  COALESCE(CAST(ROUND(toDecimal256(CAST(q.a0 AS Nullable(String)), 20), 1) AS Nullable(Float64)), CAST(q.a0 AS Nullable(Float64))) AS "r1",
  COALESCE(CAST(ROUND(toDecimal256(CAST(CAST(q.a1 AS Nullable(Float64)) / 2 AS Nullable(String)), 20), 0) AS Nullable(Float64)), CAST(CAST(q.a1 AS Nullable(Float64)) / 2 AS Nullable(Float64))) AS "half",
  COALESCE(CAST(ROUND(toDecimal256(CAST(CAST(-q.a1 AS Nullable(Float64)) / 2 AS Nullable(String)), 20), 0) AS Nullable(Float64)), CAST(CAST(-q.a1 AS Nullable(Float64)) / 2 AS Nullable(Float64))) AS "minus half",
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
    SUMOrNull(t0."amount") AS a0,
    SUMOrNull(t0."quantity") AS a1,
    SUMOrNull((t0."quantity" * CAST('0.5' AS Decimal(38, 1))) - (-1)) AS a2,
    SUMOrNull(1e2 * t0."quantity") AS a3,
    SUMOrNull(t0."amount" - t0."quantity") AS a4,
    SUMOrNull(CASE WHEN t0."paid" THEN 1 WHEN NOT t0."paid" THEN 0 END) AS a5,
    MAXOrNull(CASE WHEN t0."quantity" <> 0 THEN 1 WHEN NOT (t0."quantity" <> 0) THEN 0 END) AS a6
  FROM "orders" AS t0
  GROUP BY 1
) AS q
ORDER BY q.d0 NULLS LAST
