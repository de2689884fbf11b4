export const databasesSql =
  'SELECT schema_name AS name, default_character_set_name AS says FROM ' +
  'information_schema.schemata ORDER BY 1';

// A sum with 0e0 is a double, which always comes as a number.
export const tablesSql =
  'SELECT table_schema AS `schema`, table_name AS name, ' +
  "LOWER(REPLACE(table_type, 'BASE ', '')) AS type, table_rows + 0e0 AS `rows` FROM " +
  'information_schema.tables ' +
  'WHERE table_schema = DATABASE() OR (DATABASE() IS NULL AND table_schema NOT IN ' +
  "('information_schema', 'mysql', " +
  "'performance_schema', 'sys')) ORDER BY table_schema, table_name";

const here = 'table_schema = DATABASE() AND table_name = ?';
// The same name is bound in each place: the statement is asked once for each.
export const describeSql = {
  columns:
    "SELECT column_name AS name, CONCAT_WS(' ', column_type, NULLIF(extra, '')) AS type, " +
    'is_nullable AS nullable, ' +
    `column_default AS \`default\` FROM information_schema.columns WHERE ${here} ORDER BY ordinal_position`,
  details:
    "SELECT CONCAT(IF(MIN(non_unique) = 0, 'unique index ', 'index '), index_name, ' (', " +
    "GROUP_CONCAT(column_name ORDER BY seq_in_index), ')') AS detail " +
    `FROM information_schema.statistics WHERE ${here} GROUP BY index_name ` +
    "UNION ALL SELECT CONCAT('foreign key ', constraint_name, ' (', column_name, ') references ', " +
    "referenced_table_name, '(', referenced_column_name, ')') FROM information_schema.key_column_usage " +
    `WHERE ${here} AND referenced_table_name IS NOT NULL ` +
    `UNION ALL SELECT CONCAT('as ', view_definition) FROM information_schema.views WHERE ${here}`,
};
