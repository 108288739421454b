SELECT
  q.a0 AS "revenue",
  q.a1 AS "returned",
  q.a2 AS "account",
  COALESCE(q.a3, 0) AS "n"
FROM (
  SELECT
    MAX(u.a0) AS a0,
    MAX(u.a1) AS a1,
    MAX(u.a2) AS a2,
    MAX(u.a3) AS a3
  FROM (
    SELECT
      SUM(t0."amount") AS a0,
      NULL AS a1,
      NULL AS a2,
      NULL AS a3
    FROM "orders" AS t0
    UNION ALL
    SELECT
      NULL AS a0,
      SUM(t0."amount") AS a1,
      NULL AS a2,
      COUNT(t0."id") AS a3
    FROM "returns" AS t0
    UNION ALL
    SELECT
      NULL AS a0,
      NULL AS a1,
      MIN(t0."account") AS a2,
      NULL AS a3
    FROM "balances" AS t0
  ) AS u
) AS q
