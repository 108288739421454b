SELECT
  q.d0 AS [paid],
  q.d1 AS [large],
  q.a0 AS [any],
  q.a1 AS [all large],
  q.a2 AS [known],
  CASE WHEN q.a0 = 1 THEN CAST(1 AS bit) WHEN NOT (q.a0 = 1) THEN CAST(0 AS bit) END AS [is paid],
  q.a3 AS [same]
FROM (
  SELECT
    t0.[paid] AS d0,
    g.d1,
    MAX(CASE WHEN t0.[paid] = 1 THEN 1 WHEN NOT (t0.[paid] = 1) THEN 0 END) AS a0,
    MIN(CASE WHEN t0.[amount] > 40 THEN 1 WHEN NOT (t0.[amount] > 40) THEN 0 END) AS a1,
    COUNT_BIG(CASE WHEN t0.[quantity] > 1 THEN CAST(1 AS bit) WHEN NOT (t0.[quantity] > 1) THEN CAST(0 AS bit) END) AS a2,
    SUM(CASE WHEN t0.[paid] = CASE WHEN t0.[quantity] > 1 THEN CAST(1 AS bit) WHEN NOT (t0.[quantity] > 1) THEN CAST(0 AS bit) END THEN 1 ELSE 0 END) AS a3
  FROM [orders] AS t0
  CROSS APPLY (SELECT CASE WHEN t0.[amount] > 40 THEN CAST(1 AS bit) WHEN NOT (t0.[amount] > 40) THEN CAST(0 AS bit) END AS d1) AS g
  GROUP BY t0.[paid], g.d1
) AS q
WHERE (q.a0 = 1) OR (NOT (q.a1 <> 0))
ORDER BY CASE WHEN q.d0 IS NULL THEN 1 ELSE 0 END, q.d0, CASE WHEN q.d1 IS NULL THEN 1 ELSE 0 END, q.d1
