import { readFileSync } from 'node:fs';

/** The sockets that listen on this computer, by port; a socket's number is never given again while it lives. */
export type Listeners = ReadonlyMap<number, ReadonlySet<string>>;

const tables = ['/proc/net/tcp', '/proc/net/tcp6'];
/** TCP_LISTEN, as proc_net_tcp writes it. */
const listening = '0A';

/** What listens now; undefined where the system does not tell cheaply. */
export function listenersNow(): Listeners | undefined {
  if (process.platform !== 'linux') return undefined;
  const found = new Map<number, Set<string>>();
  for (const row of tables.flatMap(rowsOf)) {
    const [, local = '', , state, , , , , , socket = ''] = row.trim().split(/\s+/);
    if (state !== listening) continue;
    const port = Number.parseInt(local.slice(local.lastIndexOf(':') + 1), 16);
    found.set(port, (found.get(port) ?? new Set()).add(socket));
  }
  return found;
}

function rowsOf(table: string): string[] {
  try {
    return readFileSync(table, 'latin1').split('\n').slice(1);
  } catch {
    // A system without IPv6, or a sandbox: then it is not known.
    return [];
  }
}

/** Local connections are made at once or not at all. */
const connectMs = 1000;

/** Whether something on this computer accepts connections at a port. */
export async function accepts(port: number): Promise<boolean> {
  const { connect } = await import('node:net');
  const tried = ['127.0.0.1', '::1'].map(
    (host) =>
      new Promise<boolean>((resolve) => {
        const socket = connect({ host, port, timeout: connectMs });
        const answer = (accepted: boolean) => {
          socket.destroy();
          resolve(accepted);
        };
        socket
          .once('connect', () => answer(true))
          .once('timeout', () => answer(false))
          .once('error', () => answer(false));
      }),
  );
  return (await Promise.all(tried)).includes(true);
}
