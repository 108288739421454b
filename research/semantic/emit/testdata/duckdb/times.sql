SELECT
  q.a0 AS "midnight",
  q.a1 AS "after",
  q.a2 AS "in 2024",
  q.a3 AS "before",
  q.a4 AS "some",
  q.a5 AS "december",
  q.a6 AS "same day",
  q.a7 AS "old",
  q.a8 AS "first",
  q.a9 AS "last",
  q.a10 AS "future",
  q.a11 AS "future days"
FROM (
  SELECT
    COUNT(CASE WHEN t0."created_at" = DATE '2024-12-30' THEN 1 END) AS a0,
    COUNT(CASE WHEN t0."created_at" > TIMESTAMP '2024-12-29 23:59:00' THEN 1 END) AS a1,
    COUNT(CASE WHEN t0."order_date" BETWEEN DATE '2024-01-01' AND DATE '2024-12-31' THEN 1 END) AS a2,
    COUNT(CASE WHEN t0."created_at" < t0."order_date" THEN 1 END) AS a3,
    COUNT(CASE WHEN t0."created_at" IN (TIMESTAMP '2024-02-29 12:30:00', DATE '2024-12-30') THEN 1 END) AS a4,
    COUNT(CASE WHEN CAST(DATE_TRUNC('month', CAST(t0."created_at" AS timestamp)) AS date) = DATE '2024-12-01' THEN 1 END) AS a5,
    COUNT(CASE WHEN CAST(CAST(t0."created_at" AS timestamp) AS date) = t0."order_date" THEN 1 END) AS a6,
    COUNT(CASE WHEN COALESCE(t0."created_at", TIMESTAMP '2000-01-01 00:00:00') <= DATE '2024-01-01' THEN 1 END) AS a7,
    MIN(t0."created_at") AS a8,
    MAX(t0."order_date") AS a9,
    COUNT(CASE WHEN t0."created_at" > CAST(CURRENT_TIMESTAMP AS timestamp) THEN 1 END) AS a10,
    COUNT(CASE WHEN t0."order_date" > CURRENT_DATE THEN 1 END) AS a11
  FROM "orders" AS t0
) AS q
WHERE q.a8 < DATE '2030-01-01'
