SELECT
  q.d0 AS "one",
  q.d1 AS "x",
  q.a0 AS "n"
FROM (
  SELECT
    1 AS d0,
    'x' AS d1,
    COUNT(*) AS a0
  FROM "Customers" AS t0
  GROUP BY 1, 2
) AS q
ORDER BY q.d0 NULLS LAST, q.d1 NULLS LAST
