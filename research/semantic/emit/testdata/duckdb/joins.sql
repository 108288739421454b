SELECT
  q.d0 AS "region",
  q.d1 AS "recipient name",
  q.a0 AS "revenue",
  q.a1 AS "orders",
  q.a2 AS "buyers"
FROM (
  SELECT
    t2."name" AS d0,
    t3."name" AS d1,
    SUM(t0."amount") AS a0,
    COUNT(t0."id") AS a1,
    COUNT(DISTINCT t0."customer_id") AS a2
  FROM "orders" AS t0
  LEFT JOIN "Customers" AS t1 ON t0."customer_id" = t1."id"
  LEFT JOIN "regions" AS t2 ON t1."region_id" = t2."id"
  LEFT JOIN "Customers" AS t3 ON t0."recipient_id" = t3."id"
  WHERE t1."active"
    AND ((t0."status" <> 'cancelled') OR (t0."status" IS NULL))
  GROUP BY 1, 2
) AS q
ORDER BY q.a0 DESC NULLS LAST, q.d0 NULLS LAST, q.d1 NULLS LAST
LIMIT 11
