SELECT
  q.d0 AS "name",
  q.a0 AS "large",
  q.a1 AS "all"
FROM (
  SELECT
    u.d0,
    MAX(u.a0) AS a0,
    MAX(u.a1) AS a1
  FROM (
    SELECT
      t1."name" AS d0,
      SUM(k.a0) AS a0,
      NULL AS a1
    FROM (
      SELECT
        t0."customer_id" AS k0,
        SUM(t0."amount") AS a0
      FROM (
SELECT id, customer_id, amount FROM orders WHERE amount > 50 -- large ones
      ) AS t0
      GROUP BY t0."customer_id"
    ) AS k
    LEFT JOIN "Customers" AS t1 ON k.k0 = t1."id"
    GROUP BY 1
    UNION ALL
    SELECT
      t1."name" AS d0,
      NULL AS a0,
      SUM(k.a1) AS a1
    FROM (
      SELECT
        t0."customer_id" AS k0,
        SUM(t0."amount") AS a1
      FROM "orders" AS t0
      GROUP BY t0."customer_id"
    ) AS k
    LEFT JOIN "Customers" AS t1 ON k.k0 = t1."id"
    GROUP BY 1
  ) AS u
  GROUP BY u.d0
) AS q
ORDER BY q.d0 NULLS LAST
