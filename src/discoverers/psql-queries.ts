/** What a query must not contain: the tag of the dollar quotes around it, also without its last `$`. */
export const notToolcrib = '$toolcrib';
const quote = `${notToolcrib}$`;

// The caller's text reaches PostgreSQL as a string literal, which query_to_xml() hands to SPI in read-only mode: the
// server itself refuses everything but SELECT there, also a second statement, COPY, SET, COMMIT, DO and WITH … DELETE.
// The transaction is read-only too, which stops functions that write. Neither depends on how the text looks.
// The newline ends a comment at the end of the text. One more row than asked for tells that there are more.
export const queryPrecedes = [
  `SELECT query_to_xml(${quote}SELECT json_build_object('most', `,
  ", 'rows', coalesce(json_agg((SELECT json_agg(json_build_array(key, value)) FROM json_each(row_to_json(q)))), '[]')) AS result FROM (SELECT * FROM (",
] as const;
export const queryFollows = ['\n) AS t LIMIT ', ` + 1) AS q${quote}, true, true, '')`] as const;

export const databasesSql =
  "SELECT coalesce(json_agg(json_build_object('name', datname, 'owner', pg_get_userbyid(datdba), 'encoding', pg_encoding_to_char(encoding), " +
  "'size_bytes', CASE WHEN has_database_privilege(oid, 'CONNECT') THEN pg_database_size(oid) END) ORDER BY datname), '[]') " +
  'FROM pg_database WHERE NOT datistemplate';

export const tablesSql = [
  "SELECT coalesce(json_agg(json_build_object('schema', nspname, 'name', relname, 'type', CASE relkind WHEN 'r' THEN 'table' " +
    "WHEN 'p' THEN 'partitioned table' WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized view' WHEN 'f' THEN 'foreign table' ELSE 'sequence' END, " +
    "'estimated_rows', CASE WHEN relkind IN ('r', 'p', 'm') AND reltuples >= 0 THEN reltuples::bigint END, " +
    "'comment', obj_description(c.oid, 'pg_class')) ORDER BY nspname, relname), '[]') " +
    'FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace ' +
    "WHERE relkind IN ('r', 'p', 'v', 'm', 'f', 'S') AND nspname NOT IN ('pg_catalog', 'information_schema') AND nspname !~ '^pg_' AND nspname LIKE '",
  "'",
] as const;

// The cast to regclass reads a name by the rules of SQL and says so when there is no such table.
export const describeSql = [
  "WITH t AS (SELECT '",
  "'::regclass AS oid) SELECT json_build_object('name', t.oid::text, " +
    "'columns', (SELECT coalesce(json_agg(json_build_object('name', attname, 'type', format_type(atttypid, atttypmod), 'nullable', NOT attnotnull, " +
    "'default', pg_get_expr(adbin, adrelid)) ORDER BY attnum), '[]') FROM pg_attribute LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum " +
    'WHERE attrelid = t.oid AND attnum > 0 AND NOT attisdropped), ' +
    "'indexes', (SELECT coalesce(json_agg(pg_get_indexdef(indexrelid) ORDER BY indexrelid), '[]') FROM pg_index WHERE indrelid = t.oid), " +
    "'constraints', (SELECT coalesce(json_agg(json_build_object('name', conname, 'definition', pg_get_constraintdef(oid)) ORDER BY conname), '[]') " +
    "FROM pg_constraint WHERE conrelid = t.oid AND contype <> 'n'), " +
    "'definition', (SELECT pg_get_viewdef(c.oid) FROM pg_class c WHERE c.oid = t.oid AND relkind IN ('v', 'm'))) FROM t",
] as const;
