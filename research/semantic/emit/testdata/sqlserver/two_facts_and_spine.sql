SELECT
  q.d0 AS [customer],
  q.d1 AS [region],
  q.a0 AS [revenue],
  q.a1 AS [last return],
  COALESCE(q.a2, 0) AS [orders]
FROM (
  SELECT
    u.d0,
    u.d1,
    MAX(u.a0) AS a0,
    MAX(u.a1) AS a1,
    MAX(u.a2) AS a2
  FROM (
    SELECT
      t1.[name] AS d0,
      t2.[name] AS d1,
      SUM(t0.[amount]) AS a0,
      (
        SELECT MAX(t0.[returned_on])
        FROM [returns] AS t0
        LEFT JOIN [Customers] AS t1 ON t0.[customer_id] = t1.[id]
        LEFT JOIN [regions] AS t2 ON t1.[region_id] = t2.[id]
        WHERE 1 = 0
      ) AS a1,
      COUNT_BIG(t0.[id]) AS a2
    FROM [orders] AS t0
    LEFT JOIN [Customers] AS t1 ON t0.[customer_id] = t1.[id]
    LEFT JOIN [regions] AS t2 ON t1.[region_id] = t2.[id]
    WHERE t1.[active] = 1
    GROUP BY t1.[name], t2.[name]
    UNION ALL
    SELECT
      t1.[name] AS d0,
      t2.[name] AS d1,
      (
        SELECT SUM(t0.[amount])
        FROM [orders] AS t0
        LEFT JOIN [Customers] AS t1 ON t0.[customer_id] = t1.[id]
        LEFT JOIN [regions] AS t2 ON t1.[region_id] = t2.[id]
        WHERE 1 = 0
      ) AS a0,
      MAX(t0.[returned_on]) AS a1,
      CAST(NULL AS bigint) AS a2
    FROM [returns] AS t0
    LEFT JOIN [Customers] AS t1 ON t0.[customer_id] = t1.[id]
    LEFT JOIN [regions] AS t2 ON t1.[region_id] = t2.[id]
    WHERE t1.[active] = 1
    GROUP BY t1.[name], t2.[name]
    UNION ALL
    SELECT
      t0.[name] AS d0,
      t1.[name] AS d1,
      (
        SELECT SUM(t0.[amount])
        FROM [orders] AS t0
        LEFT JOIN [Customers] AS t1 ON t0.[customer_id] = t1.[id]
        LEFT JOIN [regions] AS t2 ON t1.[region_id] = t2.[id]
        WHERE 1 = 0
      ) AS a0,
      (
        SELECT MAX(t0.[returned_on])
        FROM [returns] AS t0
        LEFT JOIN [Customers] AS t1 ON t0.[customer_id] = t1.[id]
        LEFT JOIN [regions] AS t2 ON t1.[region_id] = t2.[id]
        WHERE 1 = 0
      ) AS a1,
      CAST(NULL AS bigint) AS a2
    FROM [Customers] AS t0
    LEFT JOIN [regions] AS t1 ON t0.[region_id] = t1.[id]
    WHERE t0.[active] = 1
    GROUP BY t0.[name], t1.[name]
  ) AS u
  GROUP BY u.d0, u.d1
) AS q
WHERE (COALESCE(q.a2, 0) > 0) OR (q.a1 >= CAST('2024-01-01' AS date))
ORDER BY CASE WHEN q.d0 IS NULL THEN 1 ELSE 0 END, q.d0, CASE WHEN q.d1 IS NULL THEN 1 ELSE 0 END, q.d1
