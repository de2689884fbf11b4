import type { ProgramTrial } from './types.ts';

const playbook = `- name: Make
  hosts: local
  gather_facts: false
  tasks:
    - name: Make a file
      ansible.builtin.copy:
        content: "{{ who }}"
        dest: "{{ playbook_dir }}/made"
        mode: "0644"
`;
const hosts = '[local]\nlocalhost ansible_connection=local who=ada\n';
const ansible = {
  'site.yml': playbook,
  'hosts.ini': hosts,
  'bad.yml': '- hosts: local\n  tasks:\n   - shell: ls\n',
};
const here = { playbook: 'site.yml', inventory: 'hosts.ini' };
const packer = `source "null" "a" { communicator = "none" }
build {
  sources = ["source.null.a"]
  provisioner "shell-local" { inline = ["echo built it"] }
}
`;

export default [
  {
    program: 'sqlite3',
    from: { apt: 'sqlite3' },
    files: { 'people.csv': 'name,age\nAda,36\n"B, C",1\n' },
    calls: [
      ['open', { database: 'a.db' }, /no tables/],
      ['import', { database: 'a.db', file: 'people.csv', table: 'people' }, /done/],
      [
        'execute',
        { database: 'a.db', sql: 'CREATE VIEW v AS SELECT 1; DELETE FROM people WHERE age = 1' },
        /\n1$/,
      ],
      ['tables', { database: 'a.db' }, /2 tables\npeople\nv view/],
      ['describe', { database: 'a.db', table: 'people' }, /2 columns\nname TEXT\nage/],
      ['query', { database: 'a.db', sql: 'SELECT count(*) AS n FROM people' }, /1 row\nn\n1/],
      ['query', { database: 'a.db', sql: 'PRAGMA table_info(people)' }, /2 rows/],
      ['explain', { database: 'a.db', sql: 'SELECT * FROM people' }, /SCAN people/],
      ['schema', { database: 'a.db' }, /CREATE VIEW v/],
      ['dump', { database: 'a.db' }, /INSERT INTO people/],
    ],
  },
  {
    program: 'ansible',
    from: { apt: 'ansible-core' },
    files: ansible,
    calls: [
      ['syntax', here, /playbook: /],
      ['hosts', here, /localhost/],
      ['check', here, /changed=1/],
      ['run', { ...here, variables: ['who=a b'] }, /\+a b/],
    ],
  },
  {
    program: 'ansible_inventory',
    from: { apt: 'ansible-core' },
    files: ansible,
    calls: [['groups', { inventory: 'hosts.ini' }, /local: localhost/]],
  },
  {
    program: 'ansible_lint',
    from: { apt: 'ansible-lint' },
    files: ansible,
    calls: [['lint', { only: ['bad.yml'] }, /bad\.yml:1 error: All plays should be named/]],
  },
  {
    program: 'packer',
    from: { apt: 'packer' },
    files: { 't.pkr.hcl': packer },
    calls: [
      ['validate', {}, /done|valid/],
      ['format_check', {}, /communicator|done/],
      ['format', {}, /t\.pkr\.hcl|done/],
      ['init', {}, /init|done/],
      ['build', {}, /built it/],
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
      ...['pr_comment', 'issue_comment'].map(
        (key) => [key, { repo: 'a/b', number: 1, body: 'x' }, /gh auth login|GH_TOKEN/] as const,
      ),
      ...['pr_create', 'issue_create'].map(
        (key) => [key, { repo: 'a/b', title: 'x', body: 'y' }, /gh auth login|GH_TOKEN/] as const,
      ),
      ['run_list', { repo: 'a/b' }, /gh auth login|GH_TOKEN/],
      ['run_log', { repo: 'a/b', id: 1 }, /gh auth login|GH_TOKEN/],
      ['release_list', { repo: 'a/b' }, /gh auth login|GH_TOKEN/],
    ],
  },
  {
    program: 'svn',
    from: { apt: 'subversion' },
    files: { 'a.c': 'x' },
    calls: [
      ...['status', 'diff', 'log', 'info', 'update'].map((key) => [key, {}, /working cop|Skipped/] as const),
      ['blame', { file: 'a.c' }, /not a working copy/],
      ['add', { paths: ['a.c'] }, /not a working copy/],
      ['commit', { message: 'x' }, /not a working copy/],
      ['revert', { paths: ['a.c'] }, /working cop|Skipped/],
    ],
  },
  {
    program: 'hg',
    from: { apt: 'mercurial' },
    files: { 'a.c': 'x' },
    calls: [
      ...['status', 'diff', 'log', 'branches', 'update', 'pull', 'push'].map(
        (key) => [key, {}, /no repository found/] as const,
      ),
      ['annotate', { file: 'a.c' }, /no repository found/],
      ['add', { paths: ['a.c'] }, /no repository found/],
      ['commit', { message: 'x' }, /no repository found/],
      ['merge', { rev: 'x' }, /no repository found/],
      ['revert', { paths: ['a.c'] }, /no repository found/],
    ],
  },
  {
    program: 'redis',
    from: { apt: 'redis-tools' },
    files: {},
    calls: [
      ['keys', { port: 1 }, /No Redis listens there/],
      ['info', { port: 1 }, /No Redis listens there/],
      ['execute', { port: 1, command: 'PING' }, /No Redis listens there/],
      ...['describe', 'get', 'get_hash', 'get_list', 'get_set', 'get_sorted_set', 'get_stream'].map(
        (key) => [key, { port: 1, key: 'a' }, /No Redis listens there/] as const,
      ),
    ],
  },
] as readonly ProgramTrial[];
