SELECT
  q.d0 AS "year",
  q.d1 AS "other year",
  q.a0 AS "n"
FROM (
  SELECT
    addDays(toDate32(t0."created_at"), 1 - toDayOfYear(t0."created_at")) AS d0,
    addDays(toDate32(t0."order_date"), 1 - toDayOfYear(t0."order_date")) AS d1,
    CAST(COUNT(*) AS Int64) AS a0
  FROM "orders" AS t0
  GROUP BY 1, 2
) AS q
ORDER BY q.d0 NULLS LAST, q.d1 NULLS LAST
