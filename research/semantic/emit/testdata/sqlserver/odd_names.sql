SELECT
  q.d0 AS [O'Reilly "x" `y` [z]]],
  q.d1 AS [month],
  q.a0 AS [group]
FROM (
  SELECT
    t0.[a"b`c]]d] AS d0,
    g.d1,
    SUM(t0.[order]) AS a0
  FROM [group] AS t0
  CROSS APPLY (SELECT DATEFROMPARTS(YEAR(t0.[from]), MONTH(t0.[from]), 1) AS d1) AS g
  WHERE t0.[a"b`c]]d] <> N'it''s \n'
  GROUP BY t0.[a"b`c]]d], g.d1
) AS q
ORDER BY CASE WHEN q.d0 IS NULL THEN 1 ELSE 0 END, q.d0, CASE WHEN q.d1 IS NULL THEN 1 ELSE 0 END, q.d1
