SELECT
  q.d0 AS "kind",
  q.d1 AS "region",
  q.d2 AS "year",
  q.a0 AS "net",
  q.a1 AS "rows",
  q.a2 AS "known",
  q.a3 AS "first",
  q.a4 AS "any",
  q.a5 AS "orders"
FROM (
  SELECT
    CASE WHEN t1."active" THEN 'active' ELSE 'other' END AS d0,
    t2."name" AS d1,
    CAST(DATE_TRUNC('year', CAST(t1."signup" AS timestamp)) AS date) AS d2,
    SUM(CASE WHEN t0."paid" OR (t0."quantity" > 2) THEN t0."amount" - t0."quantity" END) AS a0,
    COUNT(*) AS a1,
    COUNT(CASE WHEN t0."amount" > 0 THEN t0."paid" END) AS a2,
    MIN(t0."created_at") AS a3,
    MAX(CASE WHEN t0."paid" THEN 1 WHEN NOT t0."paid" THEN 0 END) AS a4,
    COUNT(DISTINCT t0."id") AS a5
  FROM "orders" AS t0
  LEFT JOIN "Customers" AS t1 ON t0."customer_id" = t1."id"
  LEFT JOIN "regions" AS t2 ON t1."region_id" = t2."id"
  WHERE (t0."status" <> 'cancelled')
    AND (t0."quantity" >= 1)
  GROUP BY 1, 2, 3
) AS q
WHERE q.a1 > 0
ORDER BY q.a0 DESC NULLS LAST, q.d0 NULLS LAST, q.d1 NULLS LAST, q.d2 NULLS LAST
