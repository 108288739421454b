SELECT
  q.d0 AS "id",
  q.a0 AS "plus month",
  q.a1 AS "minus quarter",
  q.a2 AS "plus year",
  q.a3 AS "minus weeks",
  q.a4 AS "plus minutes",
  q.a5 AS "date plus hours",
  q.a6 AS "date minus month",
  q.a7 AS "next day",
  q.a8 AS "later"
FROM (
  SELECT
    t0."id" AS d0,
    MAX(RTRIM(RTRIM(STRFTIME('%Y-%m-%d %H:%M:%f', t0."created_at", '+1 months', CASE WHEN STRFTIME('%d', t0."created_at") = STRFTIME('%d', t0."created_at", '+1 months') THEN '+0 days' ELSE '-' || STRFTIME('%d', t0."created_at", '+1 months') || ' days' END), '0'), '.')) AS a0,
    MAX(RTRIM(RTRIM(STRFTIME('%Y-%m-%d %H:%M:%f', t0."created_at", '-3 months', CASE WHEN STRFTIME('%d', t0."created_at") = STRFTIME('%d', t0."created_at", '-3 months') THEN '+0 days' ELSE '-' || STRFTIME('%d', t0."created_at", '-3 months') || ' days' END), '0'), '.')) AS a1,
    MAX(RTRIM(RTRIM(STRFTIME('%Y-%m-%d %H:%M:%f', t0."created_at", '+1 years', CASE WHEN STRFTIME('%d', t0."created_at") = STRFTIME('%d', t0."created_at", '+1 years') THEN '+0 days' ELSE '-' || STRFTIME('%d', t0."created_at", '+1 years') || ' days' END), '0'), '.')) AS a2,
    MAX(RTRIM(RTRIM(STRFTIME('%Y-%m-%d %H:%M:%f', t0."created_at", '-14 days'), '0'), '.')) AS a3,
    MAX(RTRIM(RTRIM(STRFTIME('%Y-%m-%d %H:%M:%f', t0."created_at", '+90 minutes'), '0'), '.')) AS a4,
    MAX(RTRIM(RTRIM(STRFTIME('%Y-%m-%d %H:%M:%f', t0."order_date", '+36 hours'), '0'), '.')) AS a5,
    MAX(RTRIM(RTRIM(STRFTIME('%Y-%m-%d %H:%M:%f', t0."order_date", '-1 months', CASE WHEN STRFTIME('%d', t0."order_date") = STRFTIME('%d', t0."order_date", '-1 months') THEN '+0 days' ELSE '-' || STRFTIME('%d', t0."order_date", '-1 months') || ' days' END), '0'), '.')) AS a6,
    MAX(RTRIM(RTRIM(STRFTIME('%Y-%m-%d %H:%M:%f', t0."order_date", '+1 days'), '0'), '.')) AS a7,
    COUNT(CASE WHEN STRFTIME('%Y-%m-%d %H:%M:%f', t0."created_at") >= STRFTIME('%Y-%m-%d %H:%M:%f', '2024-02-29', '+1 years', CASE WHEN STRFTIME('%d', '2024-02-29') = STRFTIME('%d', '2024-02-29', '+1 years') THEN '+0 days' ELSE '-' || STRFTIME('%d', '2024-02-29', '+1 years') || ' days' END) THEN 1 END) AS a8
  FROM "orders" AS t0
  GROUP BY 1
) AS q
ORDER BY q.d0 NULLS LAST
