export const databasesSql =
  "SELECT datname AS name, pg_get_userbyid(datdba) || CASE WHEN has_database_privilege(oid, 'CONNECT') " +
  "THEN ', ' || pg_size_pretty(pg_database_size(oid)) ELSE '' END AS says " +
  'FROM pg_database WHERE NOT datistemplate ORDER BY datname';

// A count as double precision always comes as a number.
export const tablesSql =
  "SELECT nspname AS schema, relname AS name, CASE relkind WHEN 'r' THEN 'table' WHEN 'p' THEN " +
  "'partitioned table' " +
  "WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized view' WHEN 'f' THEN 'foreign table' ELSE " +
  "'sequence' END AS type, " +
  "CASE WHEN relkind IN ('r', 'p', 'm') AND reltuples >= 0 THEN reltuples::float8 END AS rows, " +
  "(SELECT string_agg(attname, ', ' ORDER BY attnum) FROM pg_attribute WHERE attrelid = c.oid " +
  'AND attnum > 0 ' +
  'AND NOT attisdropped) AS columns ' +
  'FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace ' +
  "WHERE relkind IN ('r', 'p', 'v', 'm', 'f', 'S') AND nspname <> 'information_schema' AND " +
  "nspname !~ '^pg_' " +
  'AND nspname LIKE $1 ORDER BY nspname, relname';

// The cast to regclass reads a name by the rules of SQL and says so when there is no such table.
const oid = '$1::text::regclass';
export const describeSql = {
  columns:
    'SELECT attname AS name, format_type(atttypid, atttypmod) AS type, NOT attnotnull AS nullable, ' +
    'pg_get_expr(adbin, adrelid) AS "default" FROM pg_attribute LEFT JOIN pg_attrdef ON adrelid = attrelid ' +
    `AND adnum = attnum WHERE attrelid = ${oid} AND attnum > 0 AND NOT attisdropped ORDER BY attnum`,
  details:
    `SELECT pg_get_indexdef(indexrelid) AS detail FROM pg_index WHERE indrelid = ${oid} ` +
    "UNION ALL SELECT conname || ' ' || pg_get_constraintdef(oid) FROM pg_constraint " +
    `WHERE conrelid = ${oid} AND contype <> 'n' ` +
    `UNION ALL SELECT 'as ' || pg_get_viewdef(oid) FROM pg_class WHERE oid = ${oid} AND relkind ` +
    `IN ('v', 'm')`,
};
