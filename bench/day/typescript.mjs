// A TypeScript library with vitest, tsc and oxlint: the tests, three bugs, a rename, a commit.
import { execFileSync } from 'node:child_process';
import { install, put, repository } from './make.mjs';
import { edit } from './sides.mjs';

const areas = [
  'catalog',
  'search',
  'shipping',
  'returns',
  'report',
  'queue',
  'review',
  'rating',
  'wishlist',
  'gift',
];
const tested = areas.slice(0, 6);
const upper = (word) => word[0].toUpperCase() + word.slice(1);

/** A module in which the identifier to be renamed occurs seven times. */
const area = (name) => `import { round } from './money.ts';

export interface ${upper(name)}Entry {
  readonly customerId: string;
  readonly amount: number;
}

/** What a customer has in ${name}, in all. */
export function ${name}Total(entries: readonly ${upper(name)}Entry[], customerId: string): number {
  const own = entries.filter((entry) => entry.customerId === customerId);
  return round(own.reduce((sum, entry) => sum + entry.amount, 0));
}

/** The customers of ${name}, each once. */
export function ${name}Customers(entries: readonly ${upper(name)}Entry[]): string[] {
  return [...new Set(entries.map((entry) => entry.customerId))];
}

/** A line for the log. */
export function ${name}Line({ customerId, amount }: ${upper(name)}Entry): string {
  return \`${name} \${customerId} \${amount.toFixed(2)}\`;
}
`;

const areaTest = (name) => `import { describe, expect, it } from 'vitest';
import { ${name}Customers, ${name}Line, ${name}Total } from '../src/${name}.ts';

const entries = [
  { customerId: 'a', amount: 1.5 },
  { customerId: 'b', amount: 2 },
  { customerId: 'a', amount: 3.25 },
];

describe('${name}', () => {
  it('sums what a customer has', () => {
    expect(${name}Total(entries, 'a')).toBe(4.75);
  });
  it('is nothing for others', () => {
    expect(${name}Total(entries, 'c')).toBe(0);
  });
  it('names each customer once', () => {
    expect(${name}Customers(entries)).toEqual(['a', 'b']);
  });
  it('writes a line', () => {
    expect(${name}Line({ customerId: 'a', amount: 1.5 })).toBe('${name} a 1.50');
  });
});
`;

const files = {
  'package.json': `${JSON.stringify(
    {
      name: 'shop',
      version: '1.4.0',
      type: 'module',
      scripts: {
        test: 'vitest run',
        types: 'tsc --noEmit',
        lint: 'oxlint --deny-warnings src test',
        build: 'tsc --outDir dist',
      },
      devDependencies: { oxlint: '^1.89.0', typescript: '^7.0.2', vitest: '^4.1.12' },
    },
    undefined,
    2,
  )}\n`,
  'tsconfig.json': `${JSON.stringify({
    compilerOptions: {
      target: 'es2023',
      module: 'nodenext',
      strict: true,
      noEmit: true,
      allowImportingTsExtensions: true,
      skipLibCheck: true,
    },
    include: ['src', 'test'],
  })}\n`,
  '.gitignore': 'node_modules/\ndist/\n',
  'README.md': '# shop\n\nPrices, carts and orders.\n',
  'src/money.ts': `/** To whole cents. */
export function round(value: number): number {
  return Math.floor(value * 100) / 100;
}

export function add(one: number, other: number): number {
  return round(one + other);
}

export function share(value: number, parts: number): number {
  return round(value / parts);
}
`,
  'src/stock.ts': `export interface Stock {
  readonly sku: string;
  readonly count: number;
}

/** What is left when so many are taken; undefined when there are not enough. */
export function reserve(stock: Stock, wanted: number): Stock | undefined {
  if (wanted >= stock.count) return undefined;
  return { ...stock, count: stock.count - wanted };
}
`,
  'src/session.ts': `export interface User {
  readonly name: string;
}
export interface Session {
  readonly user?: User;
  readonly since: number;
}

const lifetime = 30 * 60_000;

export const isOver = (session: Session, now: number): boolean => now - session.since > lifetime;

/** Who is greeted; a guest where nobody has signed in. */
export function greeting(session: Session): string {
  const { name } = session.user as User;
  return \`Hello \${name}\`;
}
`,
  'src/tax.ts': `import { round } from './money.ts';

const rates: Readonly<Record<string, number>> = { DE: 0.19, FR: 0.2, CH: 0.081 };

export const tax = (amount: number, country: string): number => round(amount * (rates[country] ?? 0));
`,
  'src/index.ts': [...areas, 'money', 'stock', 'session', 'tax']
    .map((name) => `export * from './${name}.ts';\n`)
    .join(''),
  'test/money.test.ts': `import { describe, expect, it } from 'vitest';
import { add, round, share } from '../src/money.ts';

describe('money', () => {
  it('rounds up from half a cent', () => {
    expect(round(1.006)).toBe(1.01);
  });
  it('adds to the nearest cent', () => {
    expect(add(10.04, 0.009)).toBe(10.05);
  });
  it('shares fairly', () => {
    expect(share(20, 3)).toBe(6.67);
  });
  it('keeps whole numbers', () => {
    expect(round(12)).toBe(12);
  });
});
`,
  'test/stock.test.ts': `import { describe, expect, it } from 'vitest';
import { reserve } from '../src/stock.ts';

describe('stock', () => {
  it('takes some', () => {
    expect(reserve({ sku: 'tea', count: 5 }, 2)).toEqual({ sku: 'tea', count: 3 });
  });
  it('takes the last ones', () => {
    expect(reserve({ sku: 'tea', count: 5 }, 5)).toEqual({ sku: 'tea', count: 0 });
  });
  it('takes the only one', () => {
    expect(reserve({ sku: 'cup', count: 1 }, 1)).toEqual({ sku: 'cup', count: 0 });
  });
  it('never takes more than there are', () => {
    expect(reserve({ sku: 'tea', count: 5 }, 6)).toBeUndefined();
  });
});
`,
  'test/session.test.ts': `import { describe, expect, it } from 'vitest';
import { greeting, isOver } from '../src/session.ts';

describe('session', () => {
  it('greets who signed in', () => {
    expect(greeting({ user: { name: 'Ada' }, since: 0 })).toBe('Hello Ada');
  });
  it('greets a guest', () => {
    expect(greeting({ since: 0 })).toBe('Hello guest');
  });
  it('greets a guest whose session is over', () => {
    const session = { since: 0 };
    expect([isOver(session, 1e9), greeting(session)]).toEqual([true, 'Hello guest']);
  });
});
`,
  ...Object.fromEntries(areas.map((name) => [`src/${name}.ts`, area(name)])),
  ...Object.fromEntries(tested.map((name) => [`test/${name}.test.ts`, areaTest(name)])),
};

const failing = [
  /rounds up from half a cent/,
  /adds to the nearest cent/,
  /shares fairly/,
  /takes the last ones/,
  /takes the only one/,
  /greets a guest(?! whose)/,
  /greets a guest whose session is over/,
];
const bugs = [
  ['src/money.ts', 'Math.floor(', 'Math.round('],
  ['src/stock.ts', 'wanted >= stock.count', 'wanted > stock.count'],
  [
    'src/session.ts',
    '  const { name } = session.user as User;\n',
    "  const name = session.user?.name ?? 'guest';\n",
  ],
];
const isMended = (side) => bugs.every(([path, , now]) => side.read(path).includes(now));
const places = (side, word) =>
  areas.reduce((sum, name) => sum + side.read(`src/${name}.ts`).split(word).length - 1, 0);
const inAreas = areas.length * 7;

export const typescript = {
  name: 'TypeScript',
  make(folder) {
    put(folder, files);
    install(folder, ['vitest', 'typescript', 'oxlint']);
    const { commit, git } = repository(folder);
    commit('Prices, carts and orders');
    for (let turn = 1; turn <= 24; turn++)
      commit(`Describe step ${turn}`, { 'README.md': `# shop\n\nStep ${turn}.\n` });
    const rate = (from, to) => ({ 'src/tax.ts': files['src/tax.ts'].replace(from, to) });
    commit('Tax: Switzerland has 7.7 percent until the end of the year', rate('0.081', '0.077'));
    commit(
      'Tax: Switzerland has 8.1 percent now\n\nThe new rate holds for what is delivered from January on.',
      rate('', ''),
    );
    git('switch', '--quiet', '--create', 'fix/prices');
    put(folder, { 'NOTES.txt': 'ask Ada about the rates\n' });
  },
  tasks: [
    {
      name: 'what is this, and where do I stand',
      expects: [/fix\/prices/, /NOTES\.txt|1 untracked/, /vitest/, /oxlint/, /tsc/, /src/],
      ours: ({ turn }) => turn(['project', {}]),
      theirs: ({ turn }) => turn('git status -sb; git log --oneline -3; ls; cat package.json'),
    },
    {
      name: 'do the tests pass; if not, where',
      expects: [
        ...failing,
        /7 failed/,
        /money\.test\.ts:6/,
        /stock\.test\.ts:9/,
        /session\.test|session\.ts:1/,
        /10\.04/,
        /undefined/,
      ],
      ours: ({ turn }) => turn(['check', {}]),
      theirs: ({ turn }) =>
        turn("npx vitest run 2>&1 | grep -E '^ FAIL|Error:|❯ (src|test)/.*:[0-9]|Tests '"),
    },
    {
      name: 'read three places, mend them, run what failed',
      expects: [/Math\.floor/, /wanted >= stock/, /session\.user as User/, /\b(7|11) passed/],
      holds: isMended,
      async ours({ turn }) {
        await turn(['read_file', { path: ['src/money.ts:1-4', 'src/stock.ts', 'src/session.ts'] }]);
        const edits = bugs.map(([path, old_string, new_string]) => ({ path, old_string, new_string }));
        await turn(['edit_files', { edits }]);
        await turn(['check', { again: true }]);
      },
      async theirs({ turn }) {
        await turn('head -4 src/money.ts; cat src/stock.ts src/session.ts');
        await turn(...bugs.map((bug) => edit(...bug)));
        await turn('npx vitest run money stock session 2>&1 | tail -5');
      },
    },
    {
      name: 'types, lint and tests before the commit',
      expects: [/35 passed/],
      ours: ({ turn }) => turn(['check', { what: 'all' }]),
      theirs: ({ turn }) =>
        turn('npx tsc --noEmit && npx oxlint src test | tail -2 && npx vitest run 2>&1 | tail -5'),
    },
    {
      name: 'look at the change and commit it',
      expects: [/Math\.round/, /NOTES\.txt/, /\b[0-9a-f]{7,}\b/],
      holds: ({ folder }) => subjectOf(folder) === 'Round, reserve and greet as they should',
      async ours({ turn }) {
        await turn(['git_status', {}], ['git_diff', {}]);
        await turn(['git_commit', { message: 'Round, reserve and greet as they should', paths: ['src'] }]);
      },
      async theirs({ turn }) {
        await turn('git status -sb; git diff');
        await turn(
          'git add src && git commit -qm "Round, reserve and greet as they should" && git log --oneline -1 && git status -sb',
        );
      },
    },
    {
      name: 'rename an identifier in all of it, beside other work',
      expects: [new RegExp(`\\b${areas.length + tested.length} files`)],
      holds: (side) => places(side, 'buyerId') === inAreas && places(side, 'customerId') === 0,
      async ours({ turn }) {
        await turn(
          ['edit_file', { path: 'README.md', old_string: '# shop', new_string: '# The shop' }],
          ['replace_in_files', { pattern: '\\bcustomerId\\b', replacement: 'buyerId', glob: '*.ts' }],
          ['check', { what: 'types' }],
        );
      },
      theirs: ({ turn }) =>
        turn(
          edit('README.md', '# shop', '# The shop'),
          "grep -rlw customerId src test | xargs sed -i 's/\\bcustomerId\\b/buyerId/g' && git diff --stat -- src test | tail -1 && npx tsc --noEmit",
        ),
    },
    {
      name: 'take the rename back, keep the other work',
      expects: [],
      holds: (side) =>
        places(side, 'customerId') === inAreas && side.read('README.md').startsWith('# The shop'),
      ours: ({ turn }) => turn(['undo', { last: 1 }]),
      theirs: ({ turn }) => turn('git checkout -- src test; git status -sb'),
    },
    {
      name: 'when and why did the tax change',
      expects: [/7\.7 percent/, /delivered from January/, /-.*0\.077/, /\+.*0\.081/],
      ours: ({ turn }) => turn(['git_log', { paths: ['src/tax.ts'], limit: 2, patch: true, body: true }]),
      theirs: ({ turn }) => turn('git log -p -2 -- src/tax.ts'),
    },
    {
      name: 'where is a function defined and called',
      expects: [/src\/money\.ts/, /export function round/, /src\/tax\.ts/, /test\/money\.test\.ts/],
      ours: ({ turn }) => turn(['grep', { pattern: '\\bround\\(' }]),
      theirs: ({ turn }) => turn("grep -rn '\\bround(' src test"),
    },
  ],
};

const subjectOf = (cwd) =>
  execFileSync('git', ['log', '-1', '--format=%s'], { cwd, encoding: 'utf8' }).trim();
