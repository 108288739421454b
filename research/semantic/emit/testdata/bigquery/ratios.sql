SELECT
  q.d0 AS `status`,
  CAST(q.a0 AS FLOAT64) / NULLIF(q.a1, 0) AS `per_order`,
  CAST(q.a2 AS FLOAT64) / NULLIF(q.a0 - 3, 0) AS `price`,
  MOD(CAST(q.a0 AS BIGNUMERIC), NULLIF(CAST(4 AS BIGNUMERIC), 0)) AS `rest`,
  MOD(CAST(-q.a0 AS BIGNUMERIC), NULLIF(CAST(4 AS BIGNUMERIC), 0)) AS `negative_rest`,
  q.a3 AS `mean`,
  q.a2 - (q.a0 - q.a4) AS `margin`
FROM (
  SELECT
    t0.`status` AS d0,
    SUM(t0.`quantity`) AS a0,
    COUNT(t0.`id`) AS a1,
    SUM(t0.`amount`) AS a2,
    AVG(t0.`quantity`) AS a3,
    COUNT(*) AS a4
  FROM `orders` AS t0
  GROUP BY 1
) AS q
ORDER BY q.d0 NULLS LAST
