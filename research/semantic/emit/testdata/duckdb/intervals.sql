SELECT
  q.d0 AS "id",
  q.a0 AS "plus month",
  q.a1 AS "minus quarter",
  q.a2 AS "plus year",
  q.a3 AS "minus weeks",
  q.a4 AS "plus minutes",
  q.a5 AS "date plus hours",
  q.a6 AS "date minus month",
  q.a7 AS "next day",
  q.a8 AS "later"
FROM (
  SELECT
    t0."id" AS d0,
    MAX(t0."created_at" + INTERVAL '1 month') AS a0,
    MAX(t0."created_at" - INTERVAL '3 month') AS a1,
    MAX(t0."created_at" + INTERVAL '1 year') AS a2,
    MAX(t0."created_at" - INTERVAL '14 day') AS a3,
    MAX(t0."created_at" + INTERVAL '90 minute') AS a4,
    MAX(t0."order_date" + INTERVAL '36 hour') AS a5,
    MAX(t0."order_date" - INTERVAL '1 month') AS a6,
    MAX(t0."order_date" + INTERVAL '1 day') AS a7,
    COUNT(CASE WHEN t0."created_at" >= (DATE '2024-02-29' + INTERVAL '1 year') THEN 1 END) AS a8
  FROM "orders" AS t0
  GROUP BY 1
) AS q
ORDER BY q.d0 NULLS LAST
