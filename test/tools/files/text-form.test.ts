import iconv from 'iconv-lite';
import { describe, expect, it } from 'vitest';
import { applyEdits } from '../../../src/tools/files/editing/apply-edits.ts';
import { encodingOf, resolveEncoding } from '../../../src/tools/files/text/encoding.ts';
import { encodeText } from '../../../src/tools/files/text/file-text.ts';
import { failureOf } from './folder.ts';

/** One text in each encoding, and an edit with characters of its own. */
const samples = [
  ['windows-1252', '// Gère les événements de la page – “œuvre”\nreturn 1;\n', 'événements', 'côtés €'],
  ['windows-1250', '// Sprawdź wejście, zażółć gęślą jaźń\nreturn 1;\n', 'wejście', 'łąka'],
  ['windows-1251', '// Проверка входных данных пользователя\nreturn 1;\n', 'входных', 'всех'],
  ['koi8-r', '// Проверка входных данных пользователя\nreturn 1;\n', 'входных', 'всех'],
  ['gbk', '// 检查用户输入的数据是否有效，然后返回\nreturn 1;\n', '用户', '程序'],
  ['gb18030', '// 检查用户输入的数据是否有效\nreturn 1;\n', '用户', '程序😀'],
  ['shift_jis', '// ユーザー入力を検証する。表示する\nreturn 1;\n', '検証', '確認'],
  ['euc-jp', '// ユーザー入力を検証する。表示する\nreturn 1;\n', '検証', '確認'],
  ['euc-kr', '// 사용자 입력을 검사한다 그리고 결과를 돌려준다\nreturn 1;\n', '입력', '출력'],
  ['big5', '// 檢查使用者輸入的資料是否有效，然後返回\nreturn 1;\n', '使用者', '程式'],
  ['utf-16le', '// Größe\nreturn 1;\n', 'Größe', 'Länge 😀'],
  ['utf-16be', '// Größe\nreturn 1;\n', 'Größe', 'Länge 😀'],
] as const;

const inEncoding = (text: string, label: string) => iconv.encode(text, label, { addBOM: false });

describe('the encoding of a file', () => {
  it.each(samples)('ATTACK 66: is not guessed for %s: its likely name is suggested', async (label, text) => {
    const bytes = inEncoding(text.repeat(3), label);
    const refused = await failureOf(applyEdits(bytes, [{ old: 'return', new: 'x' }], { path: 'f' }));
    expect(refused).toMatch(
      /^ENCODING: f: is not UTF-8, and has no byte order mark\. Name its encoding .*: likely /,
    );
    if (!['windows-1250', 'koi8-r', 'gb18030', 'big5', 'euc-kr'].includes(label))
      expect(refused).toContain(label);
  });

  it.each(samples)(
    'ATTACK 66: is kept for %s by an edit of its own characters',
    async (label, text, old, fresh) => {
      const edited = await applyEdits(inEncoding(text, label), [{ old, new: fresh }], {
        path: 'f',
        encoding: label,
      });
      expect(edited.bytes).toEqual(inEncoding(text.replace(old, fresh), label));
      expect(edited.notes).toEqual([`encoding ${label}`]);
    },
  );

  it('is not found in bytes that only look like one', () => {
    const told = (bytes: Buffer) => encodingOf(bytes, 'f');
    expect(told(Buffer.from(`${'name\0'.repeat(3)}${'long enough '.repeat(9)}`)).label).toBe('utf-8');
    expect(() => told(Buffer.from('hello\n', 'utf16le'))).toThrow(/likely|UTF-8/);
    expect(() => told(Buffer.from(Uint16Array.from({ length: 300 }, (_, index) => index).buffer))).toThrow(
      /not text/,
    );
  });

  it('has a byte order mark that stays, and is no part of the text', async () => {
    const marked = Buffer.from('\ufefffirst\n');
    expect((await applyEdits(marked, [{ old: 'first', new: '1st' }], { path: 'f' })).bytes.toString()).toBe(
      '\ufeff1st\n',
    );
    const copied = await applyEdits(marked, [{ old: '\ufefffirst', new: '\ufeff1st' }], { path: 'f' });
    expect(copied.bytes.toString()).toBe('\ufeff1st\n');
    const wide = Buffer.from('\ufefffirst\r\nnext\r\n', 'utf16le');
    const edited = await applyEdits(wide, [{ old: 'first\n', new: 'first\nsecond\n' }], { path: 'f' });
    expect(edited.bytes.toString('utf16le')).toBe('\ufefffirst\r\nsecond\r\nnext\r\n');
  });

  it('is asked for also where only what follows a long beginning of ASCII has another', async () => {
    const text = inEncoding(
      `${'x = 1;\n'.repeat(20_000)}// Проверка входных данных пользователя\n`,
      'windows-1251',
    );
    const edit = { old: 'входных', new: 'всех' };
    expect(await failureOf(applyEdits(text, [edit], { path: 'f' }))).toMatch(/^ENCODING: .*windows-1251/);
    const { bytes } = await applyEdits(text, [edit], { path: 'f', encoding: 'cp1251' });
    expect(iconv.decode(bytes, 'windows-1251').endsWith('// Проверка всех данных пользователя\n')).toBe(true);
  });
});

describe('UTF-8 with broken bytes', () => {
  const broken = Buffer.concat([Buffer.from('été à Zürich: '), Buffer.of(0xff), Buffer.from(' fin\n')]);

  it('ATTACK 66: is edited as bytes, and the broken ones stay', async () => {
    const edited = await applyEdits(broken, [{ old: 'Zürich', new: 'Genève' }], { path: 'f' });
    expect(edited.bytes).toEqual(
      Buffer.from(broken.toString('latin1').replace('Z\xc3\xbcrich', 'Gen\xc3\xa8ve'), 'latin1'),
    );
    expect(edited.notes).toEqual(['not all of it is UTF-8; the rest stays as it is']);
  });

  it('is not mixed with what is no UTF-8 at all', async () => {
    const latin = Buffer.from('caf\xe9 noir\n', 'latin1');
    const edit = { old: 'noir', new: 'brûlé' };
    expect(await failureOf(applyEdits(latin, [edit], { path: 'f', encoding: 'utf-8' }))).toMatch(
      /^ENCODING: f: is not UTF-8/,
    );
    expect(
      (await applyEdits(latin, [edit], { path: 'f', encoding: 'latin1' })).bytes.toString('latin1'),
    ).toBe('caf\xe9 br\xfbl\xe9\n');
  });

  it('can have NULs in it', async () => {
    const list = Buffer.from('one.txt\0zwei-größer.txt\0three-and-more.txt\0');
    expect((await applyEdits(list, [{ old: 'größer', new: 'x' }], { path: 'f' })).bytes.toString()).toBe(
      'one.txt\0zwei-x.txt\0three-and-more.txt\0',
    );
  });
});

describe('text that cannot be written without loss', () => {
  it.each([
    ['windows-1252', '中', 'U+4E2D'],
    ['shift_jis', '한', 'U+D55C'],
  ])('is refused: %s has no %s', async (encoding, character, number) => {
    const refused = await failureOf(
      applyEdits(Buffer.from('a b'), [{ old: 'a', new: `ok ${character}` }], { path: 'f', encoding }),
    );
    expect(refused).toMatch(/^ENCODING: f: new_string: “/);
    expect(refused).toContain(`(${number}) does not exist in ${encoding}`);
  });

  it('is refused for files that are not text', async () => {
    const edit = [{ old: 'a', new: 'b' }];
    const refused = async (bytes: Buffer, encoding?: string) =>
      failureOf(applyEdits(bytes, edit, { path: 'f', encoding }));
    expect(await refused(Buffer.from('7f454c4602010100a1', 'hex'))).toMatch(
      /^ENCODING: f: is binary data, 9 bytes/,
    );
    expect(await refused(Buffer.from('7f454c4602010100a1', 'hex'), 'latin1')).toMatch(/^ENCODING: /);
    expect(await refused(Buffer.from('\ufeffabc', 'utf16le').subarray(0, 7))).toMatch(/^ENCODING: /);
    expect(await refused(Buffer.from('a\x81'.repeat(9), 'latin1'), 'gbk')).toMatch(
      /^ENCODING: .*no characters there/,
    );
    // A text may begin with the letters of a signature.
    expect(
      (await applyEdits(Buffer.from('MZ: a'), edit, { path: 'f', encoding: 'utf-8' })).bytes.toString(),
    ).toBe('MZ: b');
  });

  it('never hits the second half of a character', async () => {
    // The second byte of 表 is that of a backslash, of ソ too.
    const before = inEncoding('表ソ\\ \n', 'shift_jis');
    const edited = await applyEdits(before, [{ old: '\\', new: '/' }], { path: 'f', encoding: 'sjis' });
    expect(edited.bytes).toEqual(inEncoding('表ソ/ \n', 'shift_jis'));
    const chinese = inEncoding('中中中中', 'gbk');
    const second = Buffer.concat([chinese.subarray(1, 3)]);
    const shifted = new TextDecoder('gbk').decode(second);
    expect(
      await failureOf(applyEdits(chinese, [{ old: shifted, new: 'x' }], { path: 'f', encoding: 'gbk' })),
    ).toMatch(/^NOT_FOUND/);
    const wide = Buffer.from('\ufeff\u6100\u6100', 'utf16le');
    expect(await failureOf(applyEdits(wide, [{ old: 'a', new: 'x' }], { path: 'f' }))).toMatch(/^NOT_FOUND/);
  });
});

describe('the name of an encoding', () => {
  it.each([
    ['UTF-8', 'utf-8'],
    ['UTF-16', 'utf-16le'],
    ['Latin-1', 'windows-1252'],
    ['cp1251', 'windows-1251'],
  ])('means with %s the encoding %s', (name, label) => {
    expect(resolveEncoding(name).label).toBe(label);
    expect(() => new TextDecoder(label)).not.toThrow();
  });

  it('is refused when the byte order mark says otherwise', async () => {
    const call = applyEdits(Buffer.from('\ufeffa', 'utf16le'), [{ old: 'a', new: 'b' }], {
      path: 'f',
      encoding: 'utf-8',
    });
    expect(await failureOf(call)).toMatch(
      /^ARG_INVALID: encoding: f begins with the byte order mark of utf-16le/,
    );
  });
});

describe('a text that replaces a whole file', () => {
  it('keeps the byte order mark, once', async () => {
    const like = Buffer.from('\ufeffold\n');
    for (const text of ['new\n', '\ufeffnew\n'])
      expect((await encodeText(text, like)).bytes).toEqual(Buffer.from('\ufeffnew\n'));
    const wide = await encodeText('new', Buffer.from('\ufeffold', 'utf16le'));
    expect(wide.bytes).toEqual(Buffer.from('\ufeffnew', 'utf16le'));
    expect((await encodeText('new', undefined, 'utf-16be')).bytes.toString('hex')).toBe('feff006e00650077');
    expect((await encodeText('new', undefined, 'utf-8-sig')).bytes).toEqual(Buffer.from('\ufeffnew'));
  });

  it('ATTACK 65: ends lines as the file before when that did so throughout', async () => {
    const like = Buffer.from('a\r\nb\r\n');
    expect(await encodeText('x\ny\n', like)).toEqual({
      bytes: Buffer.from('x\r\ny\r\n'),
      encoding: 'utf-8',
      notes: ['lines end with CRLF, as in the file before'],
    });
    expect((await encodeText('x\r\ny\n', like)).bytes.toString()).toBe('x\r\ny\n');
    expect((await encodeText('x\ny\n', Buffer.from('a\r\nb\n'))).bytes.toString()).toBe('x\ny\n');
    const wide = await encodeText('x\n', Buffer.from('\ufeffa\r\n', 'utf16le'));
    expect(wide.bytes.toString('utf16le')).toBe('\ufeffx\r\n');
  });

  it('is converted when another encoding is named, with a note', async () => {
    const like = inEncoding('// Проверка входных данных\n'.repeat(3), 'windows-1251');
    const written = await encodeText('// Проверка 中\n', like, 'utf-8');
    expect(written.bytes.toString()).toBe('// Проверка 中\n');
    expect(written.notes).toEqual([expect.stringMatching(/^was .*, now utf-8$/)]);
    expect(await failureOf(encodeText('中', like, 'windows-1251'))).toMatch(
      /^ENCODING: content: “中” \(U\+4E2D\) does not exist in windows-1251, .* encoding "utf-8"/,
    );
  });

  it('has no halves of characters', async () => {
    expect(await failureOf(encodeText('a\ud83db'))).toMatch(
      /^ARG_INVALID: content: has half of a surrogate pair/,
    );
  });
});
