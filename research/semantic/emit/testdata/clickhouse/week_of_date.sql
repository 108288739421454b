SELECT
  q.d0 AS "week",
  q.a0 AS "n"
FROM (
  SELECT
    addDays(toDate32(t0."order_date"), 1 - toDayOfWeek(t0."order_date")) AS d0,
    CAST(COUNT(*) AS Int64) AS a0
  FROM "orders" AS t0
  GROUP BY 1
) AS q
ORDER BY q.d0 NULLS LAST
