SELECT
  q.d0 AS "quarter",
  q.a0 AS "n"
FROM (
  SELECT
    addMonths(addDays(toDate32(t0."created_at"), 1 - toDayOfMonth(t0."created_at")), -((toMonth(t0."created_at") - 1) % 3)) AS d0,
    CAST(COUNT(*) AS Int64) AS a0
  FROM "orders" AS t0
  GROUP BY 1
) AS q
ORDER BY q.d0 NULLS LAST
