SELECT
  q.d0 AS "customer",
  q.d1 AS "region",
  q.a0 AS "revenue",
  q.a1 AS "last return",
  COALESCE(q.a2, 0) AS "orders"
FROM (
  SELECT
    u.d0,
    u.d1,
    MAX(u.a0) AS a0,
    MAX(u.a1) AS a1,
    MAX(u.a2) AS a2
  FROM (
    SELECT
      t1."name" AS d0,
      t2."name" AS d1,
      SUM(t0."amount") AS a0,
      NULL AS a1,
      COUNT(t0."id") AS a2
    FROM "orders" AS t0
    LEFT JOIN "Customers" AS t1 ON t0."customer_id" = t1."id"
    LEFT JOIN "regions" AS t2 ON t1."region_id" = t2."id"
    WHERE t1."active"
    GROUP BY 1, 2
    UNION ALL
    SELECT
      t1."name" AS d0,
      t2."name" AS d1,
      NULL AS a0,
      MAX(t0."returned_on") AS a1,
      NULL AS a2
    FROM "returns" AS t0
    LEFT JOIN "Customers" AS t1 ON t0."customer_id" = t1."id"
    LEFT JOIN "regions" AS t2 ON t1."region_id" = t2."id"
    WHERE t1."active"
    GROUP BY 1, 2
    UNION ALL
    SELECT
      t0."name" AS d0,
      t1."name" AS d1,
      NULL AS a0,
      NULL AS a1,
      NULL AS a2
    FROM "Customers" AS t0
    LEFT JOIN "regions" AS t1 ON t0."region_id" = t1."id"
    WHERE t0."active"
    GROUP BY 1, 2
  ) AS u
  GROUP BY u.d0, u.d1
) AS q
WHERE (COALESCE(q.a2, 0) > 0) OR (q.a1 >= DATE '2024-01-01')
ORDER BY q.d0 NULLS LAST, q.d1 NULLS LAST
