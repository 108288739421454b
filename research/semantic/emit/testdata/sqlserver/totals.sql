SELECT
  q.a0 AS [revenue],
  q.a1 AS [returned],
  q.a2 AS [account],
  COALESCE(q.a3, 0) AS [n]
FROM (
  SELECT
    MAX(u.a0) AS a0,
    MAX(u.a1) AS a1,
    MAX(u.a2) AS a2,
    MAX(u.a3) AS a3
  FROM (
    SELECT
      SUM(t0.[amount]) AS a0,
      (
        SELECT SUM(t0.[amount])
        FROM [returns] AS t0
        WHERE 1 = 0
      ) AS a1,
      (
        SELECT MIN(t0.[account])
        FROM [balances] AS t0
        WHERE 1 = 0
      ) AS a2,
      CAST(NULL AS bigint) AS a3
    FROM [orders] AS t0
    UNION ALL
    SELECT
      (
        SELECT SUM(t0.[amount])
        FROM [orders] AS t0
        WHERE 1 = 0
      ) AS a0,
      SUM(t0.[amount]) AS a1,
      (
        SELECT MIN(t0.[account])
        FROM [balances] AS t0
        WHERE 1 = 0
      ) AS a2,
      COUNT_BIG(t0.[id]) AS a3
    FROM [returns] AS t0
    UNION ALL
    SELECT
      (
        SELECT SUM(t0.[amount])
        FROM [orders] AS t0
        WHERE 1 = 0
      ) AS a0,
      (
        SELECT SUM(t0.[amount])
        FROM [returns] AS t0
        WHERE 1 = 0
      ) AS a1,
      MIN(t0.[account]) AS a2,
      CAST(NULL AS bigint) AS a3
    FROM [balances] AS t0
  ) AS u
) AS q
