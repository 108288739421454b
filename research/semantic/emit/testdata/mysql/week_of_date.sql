SELECT
  q.d0 AS `week`,
  q.a0 AS `n`
FROM (
  SELECT
    DATE_SUB(CAST(t0.`order_date` AS DATE), INTERVAL WEEKDAY(t0.`order_date`) DAY) AS d0,
    COUNT(*) AS a0
  FROM `orders` AS t0
  GROUP BY 1
) AS q
ORDER BY q.d0 IS NULL, q.d0
