SELECT
  q.d0 AS [hour],
  q.a0 AS [n]
FROM (
  SELECT
    g.d0,
    COUNT_BIG(*) AS a0
  FROM [orders] AS t0
  CROSS APPLY (SELECT DATEADD(hour, DATEPART(hour, CAST(t0.[created_at] AS datetime2)), CAST(CAST(t0.[created_at] AS date) AS datetime2(0))) AS d0) AS g
  GROUP BY g.d0
) AS q
ORDER BY CASE WHEN q.d0 IS NULL THEN 1 ELSE 0 END, q.d0
