import { Transform } from 'node:stream';

/** As much as the SDK takes in one message; it would close the connection for one more byte. */
const mostBytes = 10 * 1024 * 1024;
/** Bytes kept of the beginning and the end of a line that is too long: enough to find its id. */
const edgeBytes = 256;

/** A line that was longer than a message may be: what it began and ended with. */
interface Refused {
  readonly head: string;
  readonly tail: string;
}

/**
 * Hands on input in whole lines. A pipe brings 64 KB at a time, and the SDK copies all it has with each piece: a
 * message of 1 MB would be copied eight times over before it is read. A line that is too long is dropped, and
 * `refuse` is told.
 */
export function wholeLines(refuse: (line: Refused) => void): Transform {
  let pieces: Buffer[] = [];
  let length = 0;
  let dropped: { head: Buffer; tail: Buffer } | undefined;

  /** Takes bytes of a line that are not its end. */
  const keep = (bytes: Buffer) => {
    if (bytes.length === 0) return;
    if (dropped) {
      dropped.tail = Buffer.concat([dropped.tail, bytes.subarray(-edgeBytes)]).subarray(-edgeBytes);
      return;
    }
    pieces.push(bytes);
    length += bytes.length;
    if (length <= mostBytes) return;
    const all = Buffer.concat(pieces);
    dropped = { head: Buffer.from(all.subarray(0, edgeBytes)), tail: Buffer.from(all.subarray(-edgeBytes)) };
    pieces = [];
    length = 0;
  };

  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      let begin = 0;
      const first = chunk.indexOf('\n') + 1;
      if (first > 0 && (dropped || length + first > mostBytes)) {
        keep(chunk.subarray(0, first - 1));
        if (dropped) {
          refuse({ head: dropped.head.toString(), tail: dropped.tail.toString() });
          dropped = undefined;
          begin = first;
        }
      }
      if (pieces.length > 0 && first > begin) {
        this.push(Buffer.concat([...pieces, chunk.subarray(0, first)]));
        pieces = [];
        length = 0;
        begin = first;
      }
      const end = chunk.lastIndexOf('\n') + 1;
      if (end > begin) this.push(chunk.subarray(begin, end));
      begin = Math.max(begin, end);
      keep(chunk.subarray(begin));
      done();
    },
  });
}

/** The answer to a message that was too long, in one line. Its id stands before or after the parameters. */
export function refusalOf({ head, tail }: Refused): string {
  const id =
    /^\{"jsonrpc":"2\.0","id":(\d+|"[^"\\]*"),/.exec(head)?.[1] ??
    /"id":(\d+|"[^"\\]*")(?:,"jsonrpc":"2\.0")?\}\s*$/.exec(tail)?.[1] ??
    'null';
  const message = `TOO_LARGE: The message has more than ${mostBytes / 1024 / 1024} MB. Send it in parts.`;
  return `{"jsonrpc":"2.0","id":${id},"error":{"code":-32600,"message":${JSON.stringify(message)}}}\n`;
}
