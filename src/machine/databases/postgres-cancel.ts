import { connect } from 'node:net';
import type { Target } from './target.ts';

/** What a server has given a connection to cancel by. */
export interface CancelKey {
  readonly processID: number;
  readonly secretKey: number;
}

/** The code of a request to cancel (PostgreSQL, message formats: CancelRequest). */
const cancelCode = 80_877_102;

/**
 * Asks the server to cancel what runs for a connection, over another one, as the protocol has it. Resolves when the
 * server has taken notice, which it says by closing; never rejects.
 */
export function cancelOnServer({ host, port }: Target, key: CancelKey, waitMs: number): Promise<void> {
  const request = Buffer.alloc(16);
  request.writeInt32BE(16, 0);
  request.writeInt32BE(cancelCode, 4);
  request.writeInt32BE(key.processID, 8);
  request.writeInt32BE(key.secretKey, 12);
  return new Promise((resolve) => {
    const socket = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host);
    const done = () => {
      socket.destroy();
      resolve();
    };
    socket.setTimeout(waitMs, done);
    // When it cannot be reached the caller cuts the connection, which the server notices as well.
    socket.once('error', done);
    socket.once('close', done);
    socket.once('connect', () => socket.write(request));
    socket.resume();
  });
}
