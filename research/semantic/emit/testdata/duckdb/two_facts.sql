SELECT
  q.d0 AS "customer",
  q.a0 AS "revenue",
  q.a1 AS "returned",
  COALESCE(q.a0, 0) - COALESCE(q.a1, 0) AS "net",
  COALESCE(q.a2, 0) AS "returns"
FROM (
  SELECT
    u.d0,
    MAX(u.a0) AS a0,
    MAX(u.a1) AS a1,
    MAX(u.a2) AS a2
  FROM (
    SELECT
      t1."name" AS d0,
      SUM(k.a0) AS a0,
      NULL AS a1,
      NULL AS a2
    FROM (
      SELECT
        t0."customer_id" AS k0,
        SUM(t0."amount") AS a0
      FROM "orders" AS t0
      GROUP BY t0."customer_id"
    ) AS k
    LEFT JOIN "Customers" AS t1 ON k.k0 = t1."id"
    GROUP BY 1
    UNION ALL
    SELECT
      t1."name" AS d0,
      NULL AS a0,
      SUM(k.a1) AS a1,
      CAST(SUM(k.a2) AS BIGINT) AS a2
    FROM (
      SELECT
        t0."customer_id" AS k0,
        SUM(t0."amount") AS a1,
        COUNT(t0."id") AS a2
      FROM "returns" AS t0
      GROUP BY t0."customer_id"
    ) AS k
    LEFT JOIN "Customers" AS t1 ON k.k0 = t1."id"
    GROUP BY 1
  ) AS u
  GROUP BY u.d0
) AS q
ORDER BY (COALESCE(q.a0, 0) - COALESCE(q.a1, 0)) DESC NULLS LAST, q.d0 NULLS LAST
LIMIT 20
