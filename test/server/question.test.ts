import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Reason, TrustScope } from '../../src/core/policy.ts';
import type { Plan } from '../../src/core/tool.ts';
import { questionOf, screenOf } from '../../src/server/approvals/question.ts';
import { columnsOf } from '../../src/server/approvals/display-text.ts';
import { person, says } from '../guarantees/person.ts';
import { eras, program } from '../guarantees/session.ts';
import { makeWorld } from '../guarantees/world.ts';
import { connectWithPerson } from '../support/person.ts';

const narrow = screenOf('claude-code');
const act = (subject: string): Plan => ({
  effects: ['destroy'],
  subject,
  folder: '/home/ada/shop',
  paths: [],
  isUndoable: false,
  trust: 'runs code of this folder',
  fingerprint: subject,
  grant: { act: subject, words: `exactly ${subject}` },
  work: undefined,
});
const lost = { because: 'destroy', says: 'can lose work that nothing brings back' } as const;
interface Asked {
  readonly plan?: Plan;
  readonly reasons?: readonly Reason[];
  readonly subject?: TrustScope;
}
const ask = ({ plan = act('a'), reasons = [lost], subject }: Asked) =>
  questionOf(plan, { decision: 'ask', reasons, ...(subject && { trustScope: subject }) }, narrow);
const asked = (subject: string, more: Asked = {}) => {
  const question = ask({ plan: act(subject), ...more });
  return { ...question, lines: question.text.split('\n') };
};
const trust = {
  because: 'trust',
  says: 'runs code of this folder, and this folder is not trusted yet',
  short: 'this folder is not trusted',
} as const;

describe('a question on a screen that shows three lines of 72 characters', () => {
  it('has the act, the reason and the folder', () => {
    expect(asked('docker rm web').lines).toEqual([
      'docker rm web',
      'It can lose work that nothing brings back.',
      'In /home/ada/shop',
    ]);
  });

  it('gives a long act two lines, and reason and folder the third', () => {
    const { lines, offers } = asked(`docker rm ${'container '.repeat(9)}last`);
    expect(lines).toHaveLength(3);
    expect(lines.slice(0, 2).join(' ')).toBe(`docker rm ${'container '.repeat(9)}last`);
    expect(lines[2]).toBe('In /home/ada/shop. It can lose work that nothing brings back.');
    expect(offers.always).toBeDefined();
  });

  it('begins with a note that a longer act is cut off, and has no choice that lasts', () => {
    const { lines, offers } = asked(`rm ${'x'.repeat(300)}`);
    expect(lines[0]).toBe('(303 characters, the end is not shown) rm');
    expect(lines[1]).toMatch(/ …$/);
    expect(offers).toEqual({});
  });

  it('asks for trust in whole lines, with the address of the repository', () => {
    const subject = { folder: '/home/ada/shop', origin: 'git@github.com:me/shop' };
    expect(asked('npm test', { reasons: [trust], subject }).lines).toEqual([
      'Trust /home/ada/shop from git@github.com:me/shop?',
      'Its code may run, install packages, use the network, write with git.',
      'For npm test: it runs code of this folder',
    ]);
    const far = { folder: '/home/ada/work/customers/shop', origin: 'https://git.example.org/customers/shop' };
    const { lines, keeps } = asked('npm test', { reasons: [trust], subject: far });
    expect(lines[0]).toBe('Trust /home/ada/work/customers/shop?');
    expect(lines[2]).toMatch(/^\(\d+ characters, the end is not shown\) from https:/);
    expect(keeps).toEqual(['trust']);
  });

  it('trusts no folder whose name does not fit', () => {
    const long = { folder: `/home/ada/${'x/'.repeat(40)}` };
    expect(
      asked('npm test', { reasons: [trust], subject: long })
        .lines.slice(0, 2)
        .join(''),
    ).toBe(`Trust ${long.folder}?`);
    const subject = { folder: `/home/ada/${'x'.repeat(180)}` };
    const { keeps, offers } = asked('npm test', { reasons: [trust], subject });
    expect([keeps, offers]).toEqual([[], {}]);
  });

  it('names first what would be lost, and then that the folder is not trusted', () => {
    expect(asked('git reset --hard', { reasons: [trust, lost] }).lines[1]).toBe(
      'It can lose work that nothing brings back; this folder is not trusted.',
    );
  });

  it('has no choice that lasts where the folder is cut off, or the act is broader than it shows', () => {
    const subject = { folder: `/home/ada/${'x'.repeat(80)}` };
    const plan = { ...act('docker rm web'), folder: subject.folder };
    expect(ask({ plan, reasons: [trust, lost], subject }).offers).toEqual({});
    const broad = asked(`tool ${'一'.repeat(80)} EVIL`);
    expect(broad.lines[0]).toMatch(/^\(170 characters, the end is not shown\)/);
    expect(broad.offers).toEqual({});
  });

  it('is never longer, whatever it is about', () => {
    for (const subject of [
      'a',
      'b'.repeat(71),
      'c '.repeat(72),
      'd'.repeat(145),
      '\t\u202e'.repeat(90),
      '一'.repeat(100),
    ])
      for (const reasons of [[lost], [trust, lost], [lost, lost, lost]])
        for (const folder of ['/s', `/${'long/'.repeat(60)}`])
          for (const line of asked(subject, { reasons, subject: { folder } }).lines) {
            expect(columnsOf(line)).toBeLessThanOrEqual(72);
            expect(line).not.toMatch(/\t/);
          }
  });
});

describe.each(eras)('a push in %s', (era) => {
  const world = makeWorld();
  const ada = person(says.no);
  beforeAll(() => {
    const remote = join(world.outside, 'shop.git');
    world.git('init', '--quiet', '--bare', '--initial-branch=main', remote);
    world.git('remote', 'add', 'origin', remote);
    world.git('push', '--quiet', 'origin', 'main');
    for (const name of ['one', 'two']) {
      world.write(name, name);
      world.git('add', name);
      world.git('commit', '--quiet', `--message=${name}`);
    }
    execFileSync(process.execPath, [program, 'trust', '--yes', world.project], { env: world.env });
  });
  afterAll(() => world.end());

  it('is asked about in a person’s words, also where the host shows little', async () => {
    const options = { roots: [world.project], env: { ...world.env }, cwd: world.project };
    const form = { form: {} };
    const client = await connectWithPerson(
      era,
      (question) => ada.answer(question),
      options,
      form,
      'claude-code',
    );
    await client.callTool({ name: 'git_push', arguments: {} });
    const lines = ada.asked.at(-1)?.message.split('\n') ?? [];
    expect(lines.slice(0, 2).join('')).toMatch(/git push main to origin \(.*shop\.git\), 2 commits/);
    for (const line of lines.slice(0, 3)) expect(line.length).toBeLessThanOrEqual(72);
    await client.close();
  });
});
