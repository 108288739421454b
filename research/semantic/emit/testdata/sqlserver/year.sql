SELECT
  q.d0 AS [year],
  q.d1 AS [other year],
  q.a0 AS [n]
FROM (
  SELECT
    g.d0,
    g.d1,
    COUNT_BIG(*) AS a0
  FROM [orders] AS t0
  CROSS APPLY (SELECT DATEFROMPARTS(YEAR(t0.[created_at]), 1, 1) AS d0, DATEFROMPARTS(YEAR(t0.[order_date]), 1, 1) AS d1) AS g
  GROUP BY g.d0, g.d1
) AS q
ORDER BY CASE WHEN q.d0 IS NULL THEN 1 ELSE 0 END, q.d0, CASE WHEN q.d1 IS NULL THEN 1 ELSE 0 END, q.d1
