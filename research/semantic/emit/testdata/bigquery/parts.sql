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
  q.a10 AS `hour_of_date`,
  q.a11 AS `dow_of_date`,
  q.a12 AS `week_of_date`
FROM (
  SELECT
    t0.`id` AS d0,
    MAX(EXTRACT(YEAR FROM CAST(t0.`created_at` AS DATETIME))) AS a0,
    MAX(EXTRACT(QUARTER FROM CAST(t0.`created_at` AS DATETIME))) AS a1,
    MAX(EXTRACT(MONTH FROM CAST(t0.`created_at` AS DATETIME))) AS a2,
    MAX(EXTRACT(ISOWEEK FROM CAST(t0.`created_at` AS DATETIME))) AS a3,
    MAX(EXTRACT(DAY FROM CAST(t0.`created_at` AS DATETIME))) AS a4,
    MAX((EXTRACT(DAYOFWEEK FROM CAST(t0.`created_at` AS DATETIME)) - 1)) AS a5,
    MAX(EXTRACT(DAYOFYEAR FROM CAST(t0.`created_at` AS DATETIME))) AS a6,
    MAX(EXTRACT(HOUR FROM CAST(t0.`created_at` AS DATETIME))) AS a7,
    MAX(EXTRACT(MINUTE FROM CAST(t0.`created_at` AS DATETIME))) AS a8,
    MAX(EXTRACT(SECOND FROM CAST(t0.`created_at` AS DATETIME))) AS a9,
    MAX(EXTRACT(HOUR FROM CAST(t0.`order_date` AS DATETIME))) AS a10,
    MAX((EXTRACT(DAYOFWEEK FROM CAST(t0.`order_date` AS DATETIME)) - 1)) AS a11,
    MAX(EXTRACT(ISOWEEK FROM CAST(t0.`order_date` AS DATETIME))) AS a12
  FROM `orders` AS t0
  GROUP BY 1
) AS q
ORDER BY q.d0 NULLS LAST
