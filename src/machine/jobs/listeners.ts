import { readFile } from 'node:fs/promises';

/** The sockets that listen on this computer, by port; a socket's number is never given again while it lives. */
export type Listeners = ReadonlyMap<number, ReadonlySet<string>>;

const tables = ['/proc/net/tcp', '/proc/net/tcp6'];
/** TCP_LISTEN, as proc_net_tcp writes it. */
const listening = '0A';

/** What listens now; undefined where the system does not tell cheaply. */
export async function listenersNow(platform: string = process.platform): Promise<Listeners | undefined> {
  if (platform !== 'linux') return undefined;
  const found = new Map<number, Set<string>>();
  for (const table of tables) {
    const text = await readFile(table, 'latin1').catch(() => '');
    for (const row of text.split('\n').slice(1)) {
      const [, local = '', , state, , , , , , socket = ''] = row.trim().split(/\s+/);
      if (state !== listening) continue;
      const port = Number.parseInt(local.slice(local.lastIndexOf(':') + 1), 16);
      found.set(port, (found.get(port) ?? new Set()).add(socket));
    }
  }
  return found;
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
