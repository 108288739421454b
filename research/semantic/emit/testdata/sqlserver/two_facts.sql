SELECT TOP (20)
  q.d0 AS [customer],
  q.a0 AS [revenue],
  q.a1 AS [returned],
  COALESCE(q.a0, 0) - COALESCE(q.a1, 0) AS [net],
  COALESCE(q.a2, 0) AS [returns]
FROM (
  SELECT
    u.d0,
    MAX(u.a0) AS a0,
    MAX(u.a1) AS a1,
    MAX(u.a2) AS a2
  FROM (
    SELECT
      t1.[name] AS d0,
      SUM(k.a0) AS a0,
      (
        SELECT SUM(t0.[amount])
        FROM [returns] AS t0
        LEFT JOIN [Customers] AS t1 ON t0.[customer_id] = t1.[id]
        WHERE 1 = 0
      ) AS a1,
      CAST(NULL AS bigint) AS a2
    FROM (
      SELECT
        t0.[customer_id] AS k0,
        SUM(t0.[amount]) AS a0
      FROM [orders] AS t0
      GROUP BY t0.[customer_id]
    ) AS k
    LEFT JOIN [Customers] AS t1 ON k.k0 = t1.[id]
    GROUP BY t1.[name]
    UNION ALL
    SELECT
      t1.[name] AS d0,
      (
        SELECT SUM(t0.[amount])
        FROM [orders] AS t0
        LEFT JOIN [Customers] AS t1 ON t0.[customer_id] = t1.[id]
        WHERE 1 = 0
      ) AS a0,
      SUM(k.a1) AS a1,
      SUM(k.a2) AS a2
    FROM (
      SELECT
        t0.[customer_id] AS k0,
        SUM(t0.[amount]) AS a1,
        COUNT_BIG(t0.[id]) AS a2
      FROM [returns] AS t0
      GROUP BY t0.[customer_id]
    ) AS k
    LEFT JOIN [Customers] AS t1 ON k.k0 = t1.[id]
    GROUP BY t1.[name]
  ) AS u
  GROUP BY u.d0
) AS q
ORDER BY CASE WHEN (COALESCE(q.a0, 0) - COALESCE(q.a1, 0)) IS NULL THEN 1 ELSE 0 END, (COALESCE(q.a0, 0) - COALESCE(q.a1, 0)) DESC, CASE WHEN q.d0 IS NULL THEN 1 ELSE 0 END, q.d0
