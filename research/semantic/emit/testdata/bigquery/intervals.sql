SELECT
  q.d0 AS `id`,
  q.a0 AS `plus_month`,
  q.a1 AS `minus_quarter`,
  q.a2 AS `plus_year`,
  q.a3 AS `minus_weeks`,
  q.a4 AS `plus_minutes`,
  q.a5 AS `date_plus_hours`,
  q.a6 AS `date_minus_month`,
  q.a7 AS `next_day`,
  q.a8 AS `later`
FROM (
  SELECT
    t0.`id` AS d0,
    MAX(DATETIME_ADD(CAST(t0.`created_at` AS DATETIME), INTERVAL 1 MONTH)) AS a0,
    MAX(DATETIME_ADD(CAST(t0.`created_at` AS DATETIME), INTERVAL -3 MONTH)) AS a1,
    MAX(DATETIME_ADD(CAST(t0.`created_at` AS DATETIME), INTERVAL 1 YEAR)) AS a2,
    MAX(DATETIME_ADD(CAST(t0.`created_at` AS DATETIME), INTERVAL -14 DAY)) AS a3,
    MAX(DATETIME_ADD(CAST(t0.`created_at` AS DATETIME), INTERVAL 90 MINUTE)) AS a4,
    MAX(DATETIME_ADD(CAST(t0.`order_date` AS DATETIME), INTERVAL 36 HOUR)) AS a5,
    MAX(DATETIME_ADD(CAST(t0.`order_date` AS DATETIME), INTERVAL -1 MONTH)) AS a6,
    MAX(DATETIME_ADD(CAST(t0.`order_date` AS DATETIME), INTERVAL 1 DAY)) AS a7,
    COUNT(CASE WHEN CAST(t0.`created_at` AS DATETIME) >= CAST(DATE_ADD(DATE '2024-02-29', INTERVAL 1 YEAR) AS DATETIME) THEN 1 END) AS a8
  FROM `orders` AS t0
  GROUP BY 1
) AS q
ORDER BY q.d0 NULLS LAST
