SELECT
  q.d0 AS "id",
  q.a0 AS "year",
  q.a1 AS "quarter",
  q.a2 AS "month",
  q.a3 AS "week",
  q.a4 AS "day",
  q.a5 AS "dow",
  q.a6 AS "doy",
  q.a7 AS "hour",
  q.a8 AS "minute",
  q.a9 AS "second",
  q.a10 AS "hour of date",
  q.a11 AS "dow of date",
  q.a12 AS "week of date"
FROM (
  SELECT
    t0."id" AS d0,
    MAX(CAST(STRFTIME('%Y', t0."created_at") AS INTEGER)) AS a0,
    MAX(((STRFTIME('%m', t0."created_at") + 2) / 3)) AS a1,
    MAX(CAST(STRFTIME('%m', t0."created_at") AS INTEGER)) AS a2,
    MAX(((STRFTIME('%j', t0."created_at", '-3 days', 'weekday 4') - 1) / 7 + 1)) AS a3,
    MAX(CAST(STRFTIME('%d', t0."created_at") AS INTEGER)) AS a4,
    MAX(CAST(STRFTIME('%w', t0."created_at") AS INTEGER)) AS a5,
    MAX(CAST(STRFTIME('%j', t0."created_at") AS INTEGER)) AS a6,
    MAX(CAST(STRFTIME('%H', t0."created_at") AS INTEGER)) AS a7,
    MAX(CAST(STRFTIME('%M', t0."created_at") AS INTEGER)) AS a8,
    MAX(CAST(STRFTIME('%S', t0."created_at") AS INTEGER)) AS a9,
    MAX(CAST(STRFTIME('%H', t0."order_date") AS INTEGER)) AS a10,
    MAX(CAST(STRFTIME('%w', t0."order_date") AS INTEGER)) AS a11,
    MAX(((STRFTIME('%j', t0."order_date", '-3 days', 'weekday 4') - 1) / 7 + 1)) AS a12
  FROM "orders" AS t0
  GROUP BY 1
) AS q
ORDER BY q.d0 NULLS LAST
