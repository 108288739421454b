SELECT
  q.d0 AS "kind",
  q.d1 AS "region",
  q.d2 AS "year",
  q.a0 AS "net",
  q.a1 AS "rows",
  q.a2 AS "known",
  q.a3 AS "first",
  q.a4 AS "any"
FROM (
  SELECT
    CASE WHEN t1."active" THEN 'active' ELSE 'other' END AS d0,
    t2."name" AS d1,
    addDays(toDate32(t1."signup"), 1 - toDayOfYear(t1."signup")) AS d2,
    SUMOrNull(k.a0) AS a0,
    SUMOrNull(k.a1) AS a1,
    SUMOrNull(k.a2) AS a2,
    MINOrNull(k.a3) AS a3,
    MAXOrNull(k.a4) AS a4
  FROM (
    SELECT
      t0."customer_id" AS k0,
      SUMOrNull(CASE WHEN t0."paid" OR (t0."quantity" > 2) THEN t0."amount" - t0."quantity" END) AS a0,
      CAST(COUNT(*) AS Int64) AS a1,
      CAST(COUNT(CASE WHEN t0."amount" > 0 THEN t0."paid" END) AS Int64) AS a2,
      MINOrNull(t0."created_at") AS a3,
      MAXOrNull(CASE WHEN t0."paid" THEN 1 WHEN NOT t0."paid" THEN 0 END) AS a4
    FROM "orders" AS t0
    WHERE (t0."status" <> 'cancelled')
      AND (t0."quantity" >= 1)
    GROUP BY t0."customer_id"
  ) AS k
  LEFT JOIN (SELECT toNullable(s."id") AS "id", toNullable(s."region_id") AS "region_id", toNullable(s."active") AS "active", toNullable(s."signup") AS "signup" FROM "Customers" AS s) AS t1 ON k.k0 = t1."id"
  LEFT JOIN (SELECT toNullable(s."id") AS "id", toNullable(s."name") AS "name" FROM "regions" AS s) AS t2 ON t1."region_id" = t2."id"
  GROUP BY 1, 2, 3
) AS q
WHERE q.a1 > 0
ORDER BY q.a0 DESC NULLS LAST, q.d0 NULLS LAST, q.d1 NULLS LAST, q.d2 NULLS LAST
