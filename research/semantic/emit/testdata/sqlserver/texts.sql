SELECT
  q.d0 AS [name],
  q.a0 AS [length],
  q.a1 AS [part],
  q.a2 AS [rest],
  q.a3 AS [loud],
  q.a4 AS [joined],
  q.a5 AS [with flag],
  q.a6 AS [trimmed],
  q.a7 AS [upper],
  q.a8 AS [not ann],
  q.a9 AS [id text],
  q.a10 AS [parsed]
FROM (
  SELECT
    t0.[name] AS d0,
    MAX(LEN(t0.[name] + N'.') - 1) AS a0,
    MAX(LOWER(SUBSTRING(t0.[name], 2, 3))) AS a1,
    MAX(SUBSTRING(t0.[name], 3, 2147483647)) AS a2,
    MAX(t0.[name] + N'!') AS a3,
    MAX(CONCAT(t0.[name], N'-', CAST(t0.[region_id] AS nvarchar(max)))) AS a4,
    MAX(CONCAT(t0.[name], CASE WHEN t0.[active] = 1 THEN N'true' WHEN NOT (t0.[active] = 1) THEN N'false' END)) AS a5,
    MAX(TRIM(t0.[name])) AS a6,
    MAX(UPPER(COALESCE(t0.[name], N'none'))) AS a7,
    MAX(NULLIF(t0.[name], N'Ann')) AS a8,
    MAX(CAST(t0.[id] AS nvarchar(max))) AS a9,
    SUM(CAST(SUBSTRING(N'12.5x', 1, 4) AS float)) AS a10
  FROM [Customers] AS t0
  GROUP BY t0.[name]
) AS q
ORDER BY CASE WHEN q.d0 IS NULL THEN 1 ELSE 0 END, q.d0
