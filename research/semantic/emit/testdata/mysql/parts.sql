SELECT
  q.d0 AS `id`,
  q.a0 AS `year`,
  q.a1 AS `quarter`,
  q.a2 AS `month`,
  q.a3 AS `week`,
  q.a4 AS `day`,
  q.a5 AS `dow`,
  q.a6 AS `doy`,
  q.a7 AS `hour`,
  q.a8 AS `minute`,
  q.a9 AS `second`,
  q.a10 AS `hour of date`,
  q.a11 AS `dow of date`,
  q.a12 AS `week of date`
FROM (
  SELECT
    t0.`id` AS d0,
    MAX(YEAR(t0.`created_at`)) AS a0,
    MAX(QUARTER(t0.`created_at`)) AS a1,
    MAX(MONTH(t0.`created_at`)) AS a2,
    MAX(WEEK(t0.`created_at`, 3)) AS a3,
    MAX(DAYOFMONTH(t0.`created_at`)) AS a4,
    MAX((DAYOFWEEK(t0.`created_at`) - 1)) AS a5,
    MAX(DAYOFYEAR(t0.`created_at`)) AS a6,
    MAX(EXTRACT(HOUR FROM CAST(t0.`created_at` AS DATETIME(6)))) AS a7,
    MAX(EXTRACT(MINUTE FROM CAST(t0.`created_at` AS DATETIME(6)))) AS a8,
    MAX(EXTRACT(SECOND FROM CAST(t0.`created_at` AS DATETIME(6)))) AS a9,
    MAX(EXTRACT(HOUR FROM CAST(t0.`order_date` AS DATETIME(6)))) AS a10,
    MAX((DAYOFWEEK(t0.`order_date`) - 1)) AS a11,
    MAX(WEEK(t0.`order_date`, 3)) AS a12
  FROM `orders` AS t0
  GROUP BY 1
) AS q
ORDER BY q.d0 IS NULL, q.d0
