import { unifiedDiff } from '../../filesystem/diff/unified-diff.ts';
import type { TrustState } from '../../machine/trust/trust.ts';
import type { Shown } from './question.ts';

/** What a person has to see before code of a project runs: what has changed, as a diff, or else all that would run. */
export async function evidenceShown(state: TrustState): Promise<Shown[]> {
  const { files, changes, leftOut, incomplete, untrustable, problem } = state;
  return [
    ...(changes.length > 0 ? await Promise.all(changes.map(changeShown)) : filesShown(files)),
    ...noted('Why it cannot be trusted', untrustable),
    ...noted('What cannot be told', incomplete),
    ...noted('Folders that are not looked into', leftOut.join(', ')),
    ...noted('What was kept of this project is not believed', problem),
  ];
}

const noted = (title: string, text = ''): Shown[] => (text === '' ? [] : [{ title, text }]);

/** With more, the content of some is not shown: then it is told which there are. */
const mostFiles = 8;

const filesShown = (files: TrustState['files']): Shown[] => [
  ...(files.length > mostFiles
    ? [
        {
          title: `All ${files.length} files that decide what runs`,
          text: files.map(({ path }) => path).join('\n'),
        },
      ]
    : []),
  ...files.map(({ path, what, text = 'too long to be shown, or no text' }) => ({
    title: `${path} (${what})`,
    text,
  })),
];

/** All of it: what is too long to be shown is cut, and counted, where it is shown. */
const mostDiff = Infinity;

async function changeShown({ path, how, before, after }: TrustState['changes'][number]): Promise<Shown> {
  const [old, now] = [before, after].map((text) => (text === undefined ? undefined : Buffer.from(text)));
  const { text } = await unifiedDiff(old, now, { path, maxCharacters: mostDiff });
  return { title: `${path}, ${how} since this project was trusted`, text };
}
