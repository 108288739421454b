SELECT
  q.d0 AS `O'Reilly "x" ``y`` [z]`,
  q.d1 AS `month`,
  q.a0 AS `group`
FROM (
  SELECT
    t0.`a"b``c]d` AS d0,
    CAST(DATE_FORMAT(t0.`from`, '%Y-%m-01') AS DATE) AS d1,
    SUM(t0.`order`) AS a0
  FROM `group` AS t0
  WHERE t0.`a"b``c]d` <> _utf8mb4 X'69742773205C6E'
  GROUP BY 1, 2
) AS q
ORDER BY q.d0 IS NULL, q.d0, q.d1 IS NULL, q.d1
