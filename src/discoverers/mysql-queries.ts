export const databasesSql =
  'SELECT schema_name AS name, default_character_set_name AS encoding FROM information_schema.schemata ORDER BY 1';

// Sums with 0e0 are doubles, which come as numbers; a bigint comes as text, since it may not fit into one.
export const tablesSql =
  'SELECT table_schema AS `schema`, table_name AS name, ' +
  "LOWER(REPLACE(table_type, 'BASE ', '')) AS type, engine AS engine, " +
  'table_rows + 0e0 AS estimated_rows, table_comment AS comment FROM information_schema.tables ' +
  "WHERE table_schema = DATABASE() OR (DATABASE() IS NULL AND table_schema NOT IN ('information_schema', 'mysql', " +
  "'performance_schema', 'sys')) ORDER BY table_schema, table_name";

const here = 'table_schema = DATABASE() AND table_name = ?';
export const describeSql = {
  columns:
    'SELECT column_name AS name, column_type AS type, is_nullable AS nullable, column_default AS `default`, ' +
    `extra AS extra FROM information_schema.columns WHERE ${here} ORDER BY ordinal_position`,
  indexes:
    'SELECT index_name AS name, GROUP_CONCAT(column_name ORDER BY seq_in_index) AS columns, ' +
    "IF(MIN(non_unique) = 0, 'YES', 'NO') AS `unique` " +
    `FROM information_schema.statistics WHERE ${here} GROUP BY index_name ORDER BY index_name`,
  foreign_keys:
    'SELECT constraint_name AS name, column_name AS `column`, ' +
    "CONCAT(referenced_table_name, '(', referenced_column_name, ')') AS `references` " +
    `FROM information_schema.key_column_usage WHERE ${here} AND referenced_table_name IS NOT NULL ` +
    'ORDER BY constraint_name, ordinal_position',
  view: `SELECT view_definition AS definition FROM information_schema.views WHERE ${here}`,
};
