import type { ProgramTrial } from './types.ts';

export default [
  {
    program: 'sqlite3',
    from: { apt: 'sqlite3' },
    files: { 'broken.db': 'no database\n'.repeat(100) },
    calls: [
      ...(['tables', 'open'] as const).map(
        (key) => [key, { database: 'broken.db' }, /^PROGRAM_FAILED[^]*not a database/] as const,
      ),
      ['query', { database: 'broken.db', sql: 'SELECT 1 FROM t' }, /^PROGRAM_FAILED[^]*not a database/],
      ['describe', { database: 'broken.db', table: 't' }, /^PROGRAM_FAILED[^]*not a database/],
      ['open', { database: 'a.db' }, /no tables/],
      [
        'execute',
        {
          database: 'a.db',
          sql: "CREATE TABLE people(name TEXT, age); INSERT INTO people VALUES ('Ada', 36)",
        },
        /\n1$/,
      ],
      ['execute', { database: 'a.db', sql: 'CREATE VIEW v AS SELECT 1' }, /\n0$/],
      ['tables', { database: 'a.db' }, /2 tables\npeople \(name, age\)\nv \(1\) view/],
      ['describe', { database: 'a.db', table: 'people' }, /2 columns\nname TEXT\nage/],
      ['query', { database: 'a.db', sql: 'SELECT count(*) AS n FROM people' }, /1 row\nn\n1/],
      ['query', { database: 'a.db', sql: 'PRAGMA table_info(people)' }, /2 rows/],
      ['dump', { database: 'a.db' }, /INSERT INTO people/],
    ],
  },
  {
    program: 'gh',
    from: { apt: 'gh' },
    files: {},
    calls: [
      ['pr_list', { repo: 'a/b' }, /gh auth login|GH_TOKEN/],
      ['issue_list', { repo: 'a/b' }, /gh auth login|GH_TOKEN/],
      ['api', { endpoint: 'user' }, /gh auth login|GH_TOKEN/],
      ...['pr_view', 'pr_diff', 'pr_checks', 'issue_view'].map(
        (key) => [key, { repo: 'a/b', number: 1 }, /gh auth login|GH_TOKEN/] as const,
      ),
      ...['pr_create', 'issue_create'].map(
        (key) => [key, { repo: 'a/b', title: 'x', body: 'y' }, /gh auth login|GH_TOKEN/] as const,
      ),
      ['run_list', { repo: 'a/b' }, /gh auth login|GH_TOKEN/],
      ['run_log', { repo: 'a/b', id: 1 }, /gh auth login|GH_TOKEN/],
      ['release_list', { repo: 'a/b' }, /gh auth login|GH_TOKEN/],
    ],
  },
] as readonly ProgramTrial[];
