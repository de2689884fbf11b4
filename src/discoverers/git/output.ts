import * as z from 'zod';

/** Fields end with NUL, which neither names nor messages can contain, so nothing in them can look like a field. */
export const commitFormat = '%H%x00%an%x00%ae%x00%aI%x00%D%x00%s%x00';
export const stashFormat = '%gd%x00%H%x00%aI%x00%gs';
export const branchFormat =
  '%(HEAD)%00%(refname:short)%00%(objectname:short)%00%(upstream:short)%00%(upstream:track,nobracket)%00' +
  '%(committerdate:iso-strict)%00%(contents:subject)%00';
export const tagFormat =
  '%(refname:short)%00%(objectname:short)%00%(*objectname:short)%00%(creatordate:iso-strict)%00%(contents:subject)%00';

const change = z.object({ path: z.string(), change: z.string(), from: z.string().optional() });

export const statusResult = z.object({
  branch: z.string().optional().describe('Left out when HEAD is detached'),
  commit: z.string().optional().describe('Left out before the first commit'),
  upstream: z.string().optional(),
  ahead: z.int().optional(),
  behind: z.int().optional(),
  stashes: z.int(),
  clean: z.boolean(),
  staged: z.array(change),
  unstaged: z.array(change),
  untracked: z.array(z.string()),
  conflicted: z.array(z.object({ path: z.string(), change: z.string() })),
});

type Change = z.infer<typeof change>;

const letters: Record<string, string> = {
  M: 'modified',
  T: 'type changed',
  A: 'added',
  D: 'deleted',
  R: 'renamed',
  C: 'copied',
};

const conflicts: Record<string, string> = {
  DD: 'deleted by both',
  AU: 'added by us',
  UD: 'deleted by them',
  UA: 'added by them',
  DU: 'deleted by us',
  AA: 'added by both',
  UU: 'modified by both',
};

/** Reads `git status --porcelain=v2 -z --branch --show-stash` (git-status(1), "Porcelain Format Version 2"). */
export function parseStatus(stdout: string): z.infer<typeof statusResult> {
  const headers = new Map<string, string>();
  const staged: Change[] = [];
  const unstaged: Change[] = [];
  const untracked: string[] = [];
  const conflicted: Change[] = [];
  const records = stdout.split('\0');
  for (let index = 0; index < records.length - 1; index++) {
    const record = records[index] ?? '';
    const kind = record[0];
    if (kind === '#') {
      const [, name = '', value = ''] = /^# (\S+) (.*)$/.exec(record) ?? [];
      headers.set(name, value);
    } else if (kind === '?') {
      untracked.push(record.slice(2));
    } else if (kind === 'u') {
      const fields = record.split(' ');
      conflicted.push({
        path: fields.slice(10).join(' '),
        change: conflicts[fields[1] ?? ''] ?? 'conflicted',
      });
    } else if (kind === '1' || kind === '2') {
      const fields = record.split(' ');
      const path = fields.slice(kind === '1' ? 8 : 9).join(' ');
      const from = kind === '2' ? records[++index] : undefined;
      const [x = '.', y = '.'] = fields[1] ?? '';
      if (x !== '.') staged.push(changed(path, x, from));
      if (y !== '.') unstaged.push(changed(path, y, x === '.' ? from : undefined));
    } else if (kind !== '!') {
      throw new Error(`unknown record ${JSON.stringify(record.slice(0, 40))}`);
    }
  }
  const head = headers.get('branch.head');
  if (head === undefined) throw new Error('no branch header');
  const commit = headers.get('branch.oid');
  const [, ahead, behind] = /^\+(\d+) -(\d+)$/.exec(headers.get('branch.ab') ?? '') ?? [];
  const upstream = headers.get('branch.upstream');
  return {
    ...(head === '(detached)' ? {} : { branch: head }),
    ...(commit && commit !== '(initial)' ? { commit } : {}),
    ...(upstream ? { upstream } : {}),
    ...(ahead && behind ? { ahead: Number(ahead), behind: Number(behind) } : {}),
    stashes: Number(headers.get('stash') ?? 0),
    clean: staged.length + unstaged.length + untracked.length + conflicted.length === 0,
    staged,
    unstaged,
    untracked,
    conflicted,
  };
}

function changed(path: string, letter: string, from: string | undefined): Change {
  return { path, change: letters[letter] ?? letter, ...(from === undefined ? {} : { from }) };
}

/** Records of `count` fields, each field ended by NUL; a line feed may stand between records. */
function recordsOf(stdout: string, count: number): string[][] {
  const fields = stdout.split('\0');
  const rest = fields.pop();
  if (rest?.trim() !== '' || fields.length % count !== 0)
    throw new Error(`${fields.length} fields, not a multiple of ${count}`);
  return Array.from({ length: fields.length / count }, (_, index) => {
    const [first = '', ...others] = fields.slice(index * count, (index + 1) * count);
    return [first.replace(/^\n/, ''), ...others];
  });
}

export const commitsResult = z.object({
  commits: z.array(
    z.object({
      commit: z.string(),
      author: z.string(),
      email: z.string(),
      date: z.string(),
      refs: z.array(z.string()).optional(),
      subject: z.string(),
      body: z.string().optional(),
    }),
  ),
});

/** Reads `git log -z` with commitFormat, with or without `%b` behind it: -z ends that last field. */
export function parseCommits(stdout: string): z.infer<typeof commitsResult> {
  const commits = recordsOf(stdout, 7).map(
    ([commit = '', author = '', email = '', date = '', refs = '', subject = '', body = '']) => ({
      commit,
      author,
      email,
      date,
      ...(refs ? { refs: refs.split(', ') } : {}),
      subject,
      ...(body.trim() ? { body: body.trim() } : {}),
    }),
  );
  return { commits };
}

export const blameResult = z.object({
  commits: z.record(z.string(), z.object({ author: z.string(), date: z.string(), subject: z.string() })),
  lines: z.array(z.object({ line: z.int(), commit: z.string(), text: z.string() })),
});

/** Reads `git blame --porcelain` (git-blame(1), "The Porcelain Format"): facts of a commit come only once. */
export function parseBlame(stdout: string): z.infer<typeof blameResult> {
  const facts = new Map<string, Map<string, string>>();
  const lines: z.infer<typeof blameResult>['lines'] = [];
  let commit = '';
  let line = 0;
  for (const row of stdout.split('\n')) {
    const header = /^([0-9a-f]{40,64}) \d+ (\d+)(?: \d+)?$/.exec(row);
    if (row.startsWith('\t')) lines.push({ line, commit: commit.slice(0, 10), text: row.slice(1) });
    else if (header) {
      [commit, line] = [header[1] ?? '', Number(header[2])];
      if (!facts.has(commit)) facts.set(commit, new Map());
    } else {
      const space = row.indexOf(' ');
      if (space > 0) facts.get(commit)?.set(row.slice(0, space), row.slice(space + 1));
    }
  }
  if (lines.length === 0 && stdout.trim() !== '') throw new Error('no lines');
  return {
    commits: Object.fromEntries([...facts].map(([id, fact]) => [id.slice(0, 10), blamed(fact)])),
    lines,
  };
}

function blamed(fact: ReadonlyMap<string, string>) {
  const seconds = Number(fact.get('author-time') ?? 0);
  return {
    author: fact.get('author') ?? '',
    date: new Date(seconds * 1000).toISOString().slice(0, 10),
    subject: fact.get('summary') ?? '',
  };
}

export const branchesResult = z.object({
  branches: z.array(
    z.object({
      name: z.string(),
      current: z.literal(true).optional(),
      commit: z.string(),
      upstream: z.string().optional(),
      track: z.string().optional().describe('ahead N, behind N, or gone'),
      date: z.string(),
      subject: z.string(),
    }),
  ),
});

/** Reads `git for-each-ref` with branchFormat. */
export function parseBranches(stdout: string): z.infer<typeof branchesResult> {
  const branches = recordsOf(stdout, 7).map(
    ([head = '', name = '', commit = '', upstream = '', track = '', date = '', subject = '']) => ({
      name,
      ...(head === '*' ? { current: true as const } : {}),
      commit,
      ...(upstream ? { upstream } : {}),
      ...(track ? { track } : {}),
      date,
      subject,
    }),
  );
  return { branches };
}

export const tagsResult = z.object({
  tags: z.array(z.object({ name: z.string(), commit: z.string(), date: z.string(), subject: z.string() })),
});

/** Reads `git for-each-ref` with tagFormat; an annotated tag is given with the commit it points to. */
export function parseTags(stdout: string): z.infer<typeof tagsResult> {
  const tags = recordsOf(stdout, 5).map(([name = '', object = '', target = '', date = '', subject = '']) => ({
    name,
    commit: target || object,
    date,
    subject,
  }));
  return { tags };
}

export const remotesResult = z.object({
  remotes: z.array(z.object({ name: z.string(), fetch: z.string(), push: z.string().optional() })),
});

/** Reads `git remote --verbose`. A password in an address is left out. */
export function parseRemotes(stdout: string): z.infer<typeof remotesResult> {
  const remotes = new Map<string, { name: string; fetch: string; push?: string }>();
  for (const row of stdout.split('\n').filter(Boolean)) {
    const [, name, url, direction] = /^(.+)\t(.*) \((fetch|push)\)(?: \[.*\])?$/.exec(row) ?? [];
    if (name === undefined || url === undefined)
      throw new Error(`unknown row ${JSON.stringify(row.slice(0, 80))}`);
    const address = url
      .replace(/^(https?:\/\/).*@/i, '$1***@')
      .replace(/^([a-z+]+:\/\/[^/@:]*):.*@/i, '$1:***@');
    const known = remotes.get(name);
    if (direction === 'fetch') remotes.set(name, { name, fetch: address });
    else if (known && known.fetch !== address) known.push = address;
  }
  return { remotes: [...remotes.values()] };
}

const position = z.object({ name: z.string(), commit: z.string(), date: z.string(), subject: z.string() });

export const stashesResult = z.object({ stashes: z.array(position) });
export const reflogResult = z.object({ positions: z.array(position) });

/** Reads `git stash list -z` with stashFormat. */
export const parseStashes = (stdout: string): z.infer<typeof stashesResult> => ({
  stashes: positionsOf(stdout),
});

/** Reads `git log --walk-reflogs -z` with stashFormat. */
export const parseReflog = (stdout: string): z.infer<typeof reflogResult> => ({
  positions: positionsOf(stdout),
});

const positionsOf = (stdout: string): z.infer<typeof position>[] =>
  recordsOf(stdout, 4).map(([name = '', commit = '', date = '', subject = '']) => ({
    name,
    commit,
    date,
    subject,
  }));
