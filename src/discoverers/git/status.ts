import * as z from 'zod';
import { kind, type Output, told } from '../../core/grammar.ts';

const change = z.object({ path: z.string(), state: z.string(), from: z.string().optional() });
const status = z.object({
  branch: z.string().optional(),
  commit: z.string().optional(),
  upstream: z.string().optional(),
  ahead: z.int(),
  behind: z.int(),
  stashes: z.int(),
  changes: z.array(change),
});
type Status = z.infer<typeof status>;
type Change = z.infer<typeof change>;

/** Asks for all that a status is made of (git-status(1), "Porcelain Format Version 2"). */
export const statusWords = [
  ...['status', '--porcelain=v2', '-z', '--branch', '--show-stash', '--ignore-submodules=dirty'],
] as const;

/** The look after a change: new files that a commit has left out as well. */
export const now = { now: () => [...statusWords, '--untracked-files=normal'] };

const conflicts: Readonly<Record<string, string>> = {
  DD: 'deleted by both',
  AU: 'added by us',
  UD: 'deleted by them',
  UA: 'added by them',
  DU: 'deleted by us',
  AA: 'added by both',
  UU: 'modified by both',
};

/** Reads what statusWords asks for. Throws for other output. */
export function readStatus(stdout: string): Status {
  const headers = new Map<string, string>();
  const changes: Change[] = [];
  const records = stdout.split('\0');
  for (let index = 0; index < records.length - 1; index++) {
    const record = records[index] ?? '';
    if (record.startsWith('# ')) {
      const [, name = '', value = ''] = /^# (\S+) (.*)$/.exec(record) ?? [];
      headers.set(name, value);
      continue;
    }
    const one = changeOf(record);
    if (!record.startsWith('2')) {
      changes.push(one);
      continue;
    }
    // The old name is a record of its own.
    index += 1;
    changes.push({ ...one, from: records[index] ?? '' });
  }
  const head = headers.get('branch.head');
  if (head === undefined) throw new Error('no branch header');
  const commit = headers.get('branch.oid');
  const [, ahead, behind] = /^\+(\d+) -(\d+)$/.exec(headers.get('branch.ab') ?? '') ?? [];
  return {
    ...(head !== '(detached)' && { branch: head }),
    ...(commit !== '(initial)' && { commit }),
    upstream: headers.get('branch.upstream'),
    ahead: Number(ahead ?? 0),
    behind: Number(behind ?? 0),
    stashes: Number(headers.get('stash') ?? 0),
    changes,
  };
}

/** Fields before the path, by the kind of a record. */
const fieldsBefore: Readonly<Record<string, number>> = { '1': 8, '2': 9, u: 10, '?': 1, '!': 1 };

function changeOf(record: string): Change {
  const before = fieldsBefore[record[0] ?? ''];
  if (before === undefined) throw new Error(`unknown record ${JSON.stringify(record.slice(0, 40))}`);
  const fields = record.split(' ');
  const path = fields.slice(before).join(' ');
  const state = before === 1 ? (record[0] ?? '').repeat(2) : (fields[1] ?? '').replaceAll('.', ' ');
  return { path, state };
}

const isConflict = ({ state }: Change): boolean => state in conflicts;

/** Changes that are counted together, by the word for them. */
const groups: readonly (readonly [word: string, holds: (one: Change) => boolean])[] = [
  ['in conflict', isConflict],
  ['staged', (one) => !isConflict(one) && /^[^ ?!]/.test(one.state)],
  ['changed', (one) => !isConflict(one) && /^.[^ ?!]/.test(one.state)],
  ['untracked', ({ state }) => state === '??'],
];

/** `on main at 57f3b01, 1 ahead of origin/main; 2 staged, 1 changed` */
export function whereOf({ branch, commit, upstream, ahead, behind, stashes, changes }: Status): string {
  const head = branch === undefined ? 'detached' : `on ${branch}`;
  const place = head + (commit ? ` at ${commit.slice(0, 9)}` : ', no commit yet');
  const apart = [ahead > 0 && `${ahead} ahead of`, behind > 0 && `${behind} behind`]
    .filter(Boolean)
    .join(' and ');
  const tracking = upstream ? `, ${apart || 'even with'} ${upstream}` : '';
  const work = groups.flatMap(([word, holds]) => {
    const many = changes.filter(holds).length;
    return many > 0 ? [`${many} ${word}`] : [];
  });
  const put = stashes > 0 ? `; ${stashes} ${stashes === 1 ? 'stash' : 'stashes'}` : '';
  return `${place}${tracking}; ${work.length > 0 ? work.join(', ') : 'nothing to commit'}${put}`;
}

const lineOf = (one: Change): string => {
  const how = conflicts[one.state];
  const names = one.from === undefined ? one.path : `${one.from} -> ${one.path}`;
  return how ? `${one.state} ${names} (${how})` : `${one.state} ${names}`;
};

/** The work tree, and where it stands. */
export const statusReport = kind('status', status, (found) =>
  [whereOf(found), ...found.changes.map(lineOf)].join('\n'),
)(({ stdout }) => readStatus(stdout));

/** The words of git about a change, and what is now. `done` is said where git says nothing. */
export const changed = (done: string, shown = (text: string) => text) =>
  told(({ stdout, stderr, after }: Output) => {
    const said = [shown(stdout), stderr].map((text) => text.trim()).filter((text) => text !== '');
    const now = after['now'] ? whereOf(readStatus(after['now'])) : '';
    return [...(said.length > 0 ? said : [done]), now].filter((line) => line !== '').join('\n');
  });

/** The words of git about a commit, without its date and the modes of its files. */
export const withoutModes = (said: string): string =>
  said.replaceAll(/^ (?:Date: .*|(?:create|delete) mode \d+ .*)\n?/gm, '').trim();

/** The same without the message, which the caller has said, and the name, which follows. */
export const committed = (said: string): string =>
  withoutModes(said.replace(/^\[[^\]\n]* [0-9a-f]{7,}\] .*\n/m, ''));

/** For an action that changes something: a report of what is now. */
export const saysNow = (done: string, shown?: (text: string) => string) =>
  ({ steps: { after: now }, out: changed(done, shown) }) as const;
