import type { Server, ServerContext } from '@modelcontextprotocol/server';
import type { Settings } from '../core/settings.ts';
import { createAsking } from './approvals/ask.ts';
import type { Found } from './environment/detect-environment.ts';
import { createClientRoots, type ClientRoots } from './wire/client-roots.ts';
import { createApprovalTickets } from './approvals/approval-tickets.ts';
import type { House, HouseOptions } from './house.ts';
import { createToolRegistry } from './registry/tool-registry.ts';
import { openRoots, type OpenedRoots } from './environment/roots.ts';
import type { Trace } from './wire/trace.ts';

/** What the servers of one client share; a connection may see more than one server (the SDK makes one to probe). */
export type Crib = ReturnType<typeof createCrib>;

/** A client's request, as its server got it. */
export interface Requested {
  readonly crib: Crib;
  readonly server: Server;
  readonly context: ServerContext;
}

/** Resources of which clients are told when they have changed. */
export const programsUri = 'toolcrib://programs';
export const projectUri = 'toolcrib://project';
const outputUri = (handle: string): string => `toolcrib://output/${handle}`;

export interface CribOptions extends Omit<HouseOptions, 'jobEnded'> {
  /** Whose calls they are: standard input and output have one client, however many servers the SDK makes for it. */
  readonly client: string;
  readonly clientRoots?: ClientRoots;
  readonly opened?: OpenedRoots;
  /** Where messages are written down, if they are. */
  readonly trace?: Trace | undefined;
  /** Called with the address of a resource that has changed. */
  updated(uri: string): void;
  /** Called at the end of each call. */
  called?(): void;
  /** Of the host that asks its user itself. */
  readonly hostKey?: string | undefined;
}

/** What can be offered and what this machine has, for one client. */
export function createCrib(settings: Settings, found: Found, options: CribOptions) {
  const { manifest, machine, signs } = found;
  const { hostKey, client, updated, trace } = options;
  const offered = createToolRegistry(manifest, machine, settings, signs);
  let house: Promise<House> | undefined;
  const jobEnded = (handle: string) => updated(outputUri(handle));
  return {
    offered,
    /** Made with the first call. */
    house: () =>
      (house ??= import('./house.ts').then(({ createHouse }) =>
        createHouse(found, settings, offered, { ...options, jobEnded }),
      )),
    client,
    clientRoots: options.clientRoots ?? createClientRoots(),
    asking: createAsking(),
    /** Whether file tools are listed. */
    hasFiles: settings.expose !== 'no-files',
    /** For the one host that asks its user itself; undefined where none has a key. */
    plans: hostKey === undefined ? undefined : createApprovalTickets(hostKey),
    opened: options.opened ?? openRoots(settings, machine.host, manifest),
    trace,
    updated,
    called: options.called ?? (() => {}),
    /** Ends all jobs and forgets all output. */
    end: async () => (await house)?.end(),
  };
}
