SELECT
  q.a0 AS `mean`,
  q.a1 AS `different`,
  q.a2 AS `some`
FROM (
  SELECT
    AVG(CAST(t0.`amount` AS DOUBLE)) AS a0,
    AVG(DISTINCT CAST(t0.`quantity` AS DOUBLE)) AS a1,
    AVG(CAST(CASE WHEN t0.`id` IN (1, 2, 5) THEN t0.`quantity` END AS DOUBLE)) AS a2
  FROM `orders` AS t0
) AS q
