SELECT
  q.d0 AS `quarter`,
  q.a0 AS `n`
FROM (
  SELECT
    CAST(CONCAT(DATE_FORMAT(t0.`created_at`, '%Y-'), LPAD(QUARTER(t0.`created_at`) * 3 - 2, 2, '0'), '-01') AS DATE) AS d0,
    COUNT(*) AS a0
  FROM `orders` AS t0
  GROUP BY 1
) AS q
ORDER BY q.d0 IS NULL, q.d0
