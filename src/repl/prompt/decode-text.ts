/** Bytes looked at to tell text from anything else. */
const sampleBytes = 8192;

/** Text in UTF-8, in UTF-16 that says so, or else in Latin-1; undefined when the bytes are no text. */
export function decodeText(bytes: Uint8Array): string | undefined {
  const [first, second] = bytes;
  const decoded = (encoding: string, fatal = false) => new TextDecoder(encoding, { fatal }).decode(bytes);
  if (first === 0xff && second === 0xfe) return decoded('utf-16le');
  if (first === 0xfe && second === 0xff) return decoded('utf-16be');
  const sample = bytes.subarray(0, sampleBytes);
  if (sample.includes(0)) return undefined;
  try {
    return decoded('utf-8', true);
  } catch {
    // No UTF-8. Control characters that no text has tell a binary file from one in an old encoding.
    const isText = sample.every((byte) => byte >= 0x20 || (byte >= 0x08 && byte <= 0x0d) || byte === 0x1b);
    return isText ? decoded('latin1') : undefined;
  }
}

/** The type of an image that models take, by its first bytes: names lie. */
export function imageType(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.subarray(0, 12)).toString('latin1');
  if (head.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png';
  if (head.startsWith('\xff\xd8\xff')) return 'image/jpeg';
  if (/^GIF8[79]a/.test(head)) return 'image/gif';
  if (/^RIFF.{4}WEBP/s.test(head)) return 'image/webp';
  return undefined;
}
