SELECT
  q.d0 AS [kind],
  q.d1 AS [active]
FROM (
  SELECT
    g.d0,
    t0.[active] AS d1
  FROM [Customers] AS t0
  CROSS APPLY (SELECT CASE WHEN t0.[active] = 1 THEN N'active' ELSE N'other' END AS d0) AS g
  GROUP BY g.d0, t0.[active]
) AS q
ORDER BY CASE WHEN q.d0 IS NULL THEN 1 ELSE 0 END, q.d0, CASE WHEN q.d1 IS NULL THEN 1 ELSE 0 END, q.d1
