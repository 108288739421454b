SELECT
  q.d0 AS [week],
  q.a0 AS [n]
FROM (
  SELECT
    g.d0,
    COUNT_BIG(*) AS a0
  FROM [orders] AS t0
  CROSS APPLY (SELECT DATEADD(day, -(DATEDIFF(day, CAST('0001-01-01' AS date), t0.[created_at]) % 7), CAST(t0.[created_at] AS date)) AS d0) AS g
  GROUP BY g.d0
) AS q
ORDER BY CASE WHEN q.d0 IS NULL THEN 1 ELSE 0 END, q.d0
