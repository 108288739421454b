SELECT
  q.d0 AS `name`,
  q.d1 AS `month`,
  q.a0 AS `closing`,
  q.a1 AS `accounts`
FROM (
  SELECT
    s.d0,
    s.d1,
    SUM(CASE WHEN s.o0 = s.m0 THEN s.x0 END) AS a0,
    COUNT(CASE WHEN s.o0 = s.m0 THEN 1 END) AS a1
  FROM (
    SELECT
      r.d0,
      r.d1,
      r.x0,
      r.o0,
      MAX(r.o0) OVER (PARTITION BY r.d0, r.d1, r.p0) AS m0
    FROM (
      SELECT
        t1.`name` AS d0,
        DATE_TRUNC(CAST(t0.`day` AS DATE), MONTH) AS d1,
        t0.`balance` AS x0,
        t0.`day` AS o0,
        t0.`account` AS p0
      FROM `balances` AS t0
      LEFT JOIN `Customers` AS t1 ON t0.`customer_id` = t1.`id`
    ) AS r
  ) AS s
  GROUP BY s.d0, s.d1
) AS q
ORDER BY q.d0 NULLS LAST, q.d1 NULLS LAST
