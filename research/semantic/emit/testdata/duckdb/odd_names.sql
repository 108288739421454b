SELECT
  q.d0 AS "O'Reilly ""x"" `y` [z]",
  q.d1 AS "month",
  q.a0 AS "group"
FROM (
  SELECT
    t0."a""b`c]d" AS d0,
    CAST(DATE_TRUNC('month', CAST(t0."from" AS timestamp)) AS date) AS d1,
    SUM(t0."order") AS a0
  FROM "group" AS t0
  WHERE t0."a""b`c]d" <> 'it''s \n'
  GROUP BY 1, 2
) AS q
ORDER BY q.d0 NULLS LAST, q.d1 NULLS LAST
