SELECT
  q.d0 AS "name",
  q.a0 AS "opening",
  q.a1 AS "highest first",
  q.a2 AS "all",
  q.a3 AS "last of all",
  q.a4 AS "revenue"
FROM (
  SELECT
    u.d0,
    MAX(u.a0) AS a0,
    MAX(u.a1) AS a1,
    MAX(u.a2) AS a2,
    MAX(u.a3) AS a3,
    MAX(u.a4) AS a4
  FROM (
    SELECT
      t1."name" AS d0,
      NULL AS a0,
      NULL AS a1,
      SUM(k.a2) AS a2,
      NULL AS a3,
      NULL AS a4
    FROM (
      SELECT
        t0."customer_id" AS k0,
        SUM(t0."balance") AS a2
      FROM "balances" AS t0
      GROUP BY t0."customer_id"
    ) AS k
    LEFT JOIN "Customers" AS t1 ON k.k0 = t1."id"
    GROUP BY 1
    UNION ALL
    SELECT
      s.d0,
      SUM(CASE WHEN s.o0 = s.m0 THEN s.x0 END) AS a0,
      MAX(CASE WHEN s.o1 = s.m1 THEN s.x1 END) AS a1,
      NULL AS a2,
      NULL AS a3,
      NULL AS a4
    FROM (
      SELECT
        r.d0,
        r.x0,
        r.x1,
        r.o0,
        MIN(r.o0) OVER (PARTITION BY r.d0, r.p0) AS m0,
        r.o1,
        MIN(r.o1) OVER (PARTITION BY r.d0, r.p0) AS m1
      FROM (
        SELECT
          t1."name" AS d0,
          t0."balance" AS x0,
          t0."balance" AS x1,
          CASE WHEN t0."balance" > 0 THEN t0."day" END AS o0,
          t0."day" AS o1,
          t0."account" AS p0
        FROM "balances" AS t0
        LEFT JOIN "Customers" AS t1 ON t0."customer_id" = t1."id"
      ) AS r
    ) AS s
    GROUP BY s.d0
    UNION ALL
    SELECT
      s.d0,
      NULL AS a0,
      NULL AS a1,
      NULL AS a2,
      SUM(CASE WHEN s.o0 = s.m0 THEN s.x3 END) AS a3,
      NULL AS a4
    FROM (
      SELECT
        r.d0,
        r.x3,
        r.o0,
        MAX(r.o0) OVER (PARTITION BY r.d0) AS m0
      FROM (
        SELECT
          t1."name" AS d0,
          t0."balance" AS x3,
          t0."day" AS o0
        FROM "balances" AS t0
        LEFT JOIN "Customers" AS t1 ON t0."customer_id" = t1."id"
        WHERE t1."active"
      ) AS r
    ) AS s
    GROUP BY s.d0
    UNION ALL
    SELECT
      t1."name" AS d0,
      NULL AS a0,
      NULL AS a1,
      NULL AS a2,
      NULL AS a3,
      SUM(k.a4) AS a4
    FROM (
      SELECT
        t0."customer_id" AS k0,
        SUM(t0."amount") AS a4
      FROM "orders" AS t0
      GROUP BY t0."customer_id"
    ) AS k
    LEFT JOIN "Customers" AS t1 ON k.k0 = t1."id"
    GROUP BY 1
  ) AS u
  GROUP BY u.d0
) AS q
ORDER BY q.d0 NULLS LAST
