import { readdirSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { createSession } from '../../../src/repl/session/session.ts';
import { sessionStore } from '../../../src/repl/session/store.ts';
import { clean, keepPart, loadPart } from '../../../src/repl/session/stored-parts.ts';
import { emptyFolder, emptyStore, says, tool } from './support.ts';

const image = (bytes: string) => ({ bytes: Buffer.from(bytes), mimeType: 'image/png', name: 'a.png' });

it('keeps the same bytes once, for their owner only', () => {
  const folder = join(emptyFolder(), 'attachments');
  const one = keepPart(folder, image('abc'));
  const two = keepPart(folder, { ...image('abc'), name: 'b.png' });
  expect(two).toEqual({ ...one, name: 'b.png' });
  expect(readdirSync(folder)).toEqual([one.sha256]);
  expect(statSync(join(folder, one.sha256)).mode & 0o777).toBe(0o600);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
});

it('gives images back as images and anything else as text', () => {
  const folder = join(emptyFolder(), 'attachments');
  expect(loadPart(folder, keepPart(folder, image('abc')))).toEqual({
    type: 'image',
    mimeType: 'image/png',
    data: 'YWJj',
  });
  const text = keepPart(folder, { bytes: Buffer.from('é'), mimeType: 'text/plain', name: 'a.txt' });
  expect(loadPart(folder, text)).toEqual({ type: 'text', text: 'é' });
});

it('says so when a part is missing, damaged, a link, or named by something else than a hash', () => {
  const folder = join(emptyFolder(), 'attachments');
  const part = keepPart(folder, image('abc'));
  const gone = { type: 'text', text: '[attachment a.png is no longer there]' };
  const linked = 'b'.repeat(64);
  symlinkSync('/etc/hostname', join(folder, linked));
  for (const sha256 of ['a'.repeat(64), linked, '../attachments', '']) {
    expect(loadPart(folder, { ...part, sha256 })).toEqual(gone);
  }
  writeFileSync(join(folder, part.sha256), 'xyz');
  expect(loadPart(folder, part)).toEqual(gone);
});

it('writes damaged bytes of another length anew', () => {
  const folder = join(emptyFolder(), 'attachments');
  const part = keepPart(folder, image('abc'));
  writeFileSync(join(folder, part.sha256), '');
  keepPart(folder, image('abc'));
  expect(loadPart(folder, part).type).toBe('image');
});

it('removes what no session of any project refers to, but nothing young', () => {
  const store = emptyStore();
  const state = dirname(dirname(store.folder));
  const folder = join(state, 'attachments');
  const [asked, shown, unused, young] = ['asked', 'shown', 'unused', 'young'].map((name) =>
    keepPart(folder, image(name)),
  );
  const session = createSession(store, { cwd: '/' });
  session.append({ type: 'user', content: [asked!] });
  session.close();
  const other = createSession(sessionStore(state, emptyFolder()), { cwd: '/' });
  other.append(says(`"sha256":"${unused!.sha256}"`));
  other.append({
    ...(tool('a', 'done') as { type: 'tool'; callId: string; name: string; state: 'done' }),
    images: [shown!],
  });
  other.close();
  writeFileSync(join(folder, `.${unused!.sha256}.tmp`), 'un');
  writeFileSync(join(folder, 'notes.txt'), 'not ours');
  for (const name of readdirSync(folder)) {
    if (name !== young!.sha256) utimesSync(join(folder, name), 1, 1);
  }
  expect(clean(folder, store)).toEqual({ removed: 2, bytes: 8 });
  expect(readdirSync(folder).toSorted()).toEqual(
    [asked!.sha256, shown!.sha256, young!.sha256, 'notes.txt'].toSorted(),
  );
  expect(clean(join(state, 'nowhere'), store)).toEqual({ removed: 0, bytes: 0 });
});
