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
    MAX(CAST(EXTRACT(YEAR FROM t0."created_at") AS integer)) AS a0,
    MAX(CAST(EXTRACT(QUARTER FROM t0."created_at") AS integer)) AS a1,
    MAX(CAST(EXTRACT(MONTH FROM t0."created_at") AS integer)) AS a2,
    MAX(CAST(EXTRACT(WEEK FROM t0."created_at") AS integer)) AS a3,
    MAX(CAST(EXTRACT(DAY FROM t0."created_at") AS integer)) AS a4,
    MAX(CAST(EXTRACT(DOW FROM t0."created_at") AS integer)) AS a5,
    MAX(CAST(EXTRACT(DOY FROM t0."created_at") AS integer)) AS a6,
    MAX(CAST(EXTRACT(HOUR FROM CAST(t0."created_at" AS timestamp)) AS integer)) AS a7,
    MAX(CAST(EXTRACT(MINUTE FROM CAST(t0."created_at" AS timestamp)) AS integer)) AS a8,
    MAX(CAST(FLOOR(EXTRACT(SECOND FROM CAST(t0."created_at" AS timestamp))) AS integer)) AS a9,
    MAX(CAST(EXTRACT(HOUR FROM CAST(t0."order_date" AS timestamp)) AS integer)) AS a10,
    MAX(CAST(EXTRACT(DOW FROM t0."order_date") AS integer)) AS a11,
    MAX(CAST(EXTRACT(WEEK FROM t0."order_date") AS integer)) AS a12
  FROM "orders" AS t0
  GROUP BY 1
) AS q
ORDER BY q.d0 NULLS LAST
