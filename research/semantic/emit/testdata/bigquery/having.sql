SELECT
  q.d0 AS `status`,
  q.a0 AS `revenue`
FROM (
  SELECT
    t0.`status` AS d0,
    SUM(t0.`amount`) AS a0,
    COUNT(*) AS a1
  FROM `orders` AS t0
  GROUP BY 1
) AS q
WHERE (q.a0 > 10)
  AND ((q.a1 >= 1) AND (NOT (q.a0 IS NULL)))
ORDER BY q.a0 DESC NULLS LAST, q.d0 NULLS LAST
