SELECT
  q.a0 AS [plain],
  q.a1 AS [backslash],
  q.a2 AS [no bar],
  q.a3 AS [marks],
  q.a4 AS [itself],
  q.a5 AS [both],
  q.a6 AS [equal],
  q.a7 AS [quote]
FROM (
  SELECT
    COUNT_BIG(CASE WHEN t0.[name] LIKE N'%nn%' THEN 1 END) AS a0,
    COUNT_BIG(CASE WHEN t0.[name] LIKE N'a\_%' THEN 1 END) AS a1,
    COUNT_BIG(CASE WHEN t0.[name] NOT LIKE N'%|%' THEN 1 END) AS a2,
    COUNT_BIG(CASE WHEN t0.[name] LIKE N'|[b]*?%' ESCAPE '|' THEN 1 END) AS a3,
    COUNT_BIG(CASE WHEN t0.[name] LIKE REPLACE(REPLACE(t0.[name], '|', '||'), '[', '|[') ESCAPE '|' THEN 1 END) AS a4,
    COUNT_BIG(CASE WHEN t0.[name] LIKE N'a\b|_' THEN 1 END) AS a5,
    COUNT_BIG(CASE WHEN t0.[name] = N'a\b|c' THEN 1 END) AS a6,
    COUNT_BIG(CASE WHEN t0.[name] LIKE N'o''%' THEN 1 END) AS a7
  FROM [Customers] AS t0
) AS q
