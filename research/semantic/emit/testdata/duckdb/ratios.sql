SELECT
  q.d0 AS "status",
  CAST(q.a0 AS DOUBLE) / NULLIF(q.a1, 0) AS "per order",
  CAST(q.a2 AS DOUBLE) / NULLIF(q.a0 - 3, 0) AS "price",
  CAST(q.a0 AS DECIMAL(38, 10)) % NULLIF(CAST(4 AS DECIMAL(38, 10)), 0) AS "rest",
  CAST(-q.a0 AS DECIMAL(38, 10)) % NULLIF(CAST(4 AS DECIMAL(38, 10)), 0) AS "negative rest",
  q.a3 AS "mean",
  q.a2 - (q.a0 - q.a4) AS "margin"
FROM (
  SELECT
    t0."status" AS d0,
    SUM(t0."quantity") AS a0,
    COUNT(t0."id") AS a1,
    SUM(t0."amount") AS a2,
    AVG(t0."quantity") AS a3,
    COUNT(*) AS a4
  FROM "orders" AS t0
  GROUP BY 1
) AS q
ORDER BY q.d0 NULLS LAST
