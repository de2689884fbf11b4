import * as z from 'zod';
import { list, matching, type Output, type Program, type Reader } from '../../core/grammar.ts';
import { jsonLines } from '../reports/readers.ts';

// Docker, Podman, Compose and buildx share this. The engine that is asked is up to the operator: no parameter
// chooses it.

export const engine = {
  category: 'container',
  environment: [
    'DOCKER_HOST',
    'DOCKER_CONTEXT',
    'DOCKER_CONFIG',
    'DOCKER_CERT_PATH',
    'DOCKER_TLS_VERIFY',
    'DOCKER_API_VERSION',
    'DOCKER_DEFAULT_PLATFORM',
    'CONTAINER_HOST',
    'XDG_RUNTIME_DIR',
  ],
  settings: { BUILDKIT_PROGRESS: 'plain', DOCKER_CLI_HINTS: 'false' },
  hints: [
    {
      says: /Cannot connect to|daemon is not running|error during connect/i,
      wayOut: 'Its service does not run: start Docker Desktop, or sudo systemctl start docker.',
    },
    { says: /permission denied.*\.sock/i, wayOut: 'This user may not use its service (group docker).' },
  ],
} as const satisfies Partial<Program>;

/** Docker's own places, beside the search path. */
export const dockers = {
  darwin: [
    '/Applications/Docker.app/Contents/Resources/bin/docker',
    '~/.docker/bin/docker',
    '~/.orbstack/bin/docker',
  ],
  win32: ['%ProgramFiles%/Docker/Docker/resources/bin/docker.exe'],
} as const;

export const word = (says: string) => matching(/^[A-Za-z0-9][\w.-]{0,254}$/, 'a name or id', says);
export const imageName = (says: string) =>
  matching(/^[A-Za-z0-9][\w./:@-]{0,254}$/, 'the name of an image', says);
export const moment = (says: string) =>
  matching(/^\d[\dA-Za-z:.+-]{0,40}$/, 'a duration like 10m or a date like 2025-01-31T12:00:00', says);
/**
 * BUILDKIT_SYNTAX would name another program to build with; without a value it is one of our own environment.
 */
export const assignments = (says: string) =>
  list(matching(/^(?!BUILDKIT_)[A-Za-z_]\w*=[^\0]*$/, 'NAME=value', 'Variable'), says);

/** One object a line, or arrays of them; another kind of object is no answer. */
export const objects = <S extends z.ZodType, T>(schema: S, map: (one: z.output<S>) => T): Reader<T[]> =>
  jsonLines(z.unknown(), (all) => z.array(schema).parse(all.flat()).map(map));

/** `running (healthy)`, `exited (1)`: the state, with what the longer status says in parentheses. */
export const stateOf = (state: string | undefined, status = ''): string =>
  [(state || status).toLowerCase(), ...(/\([\w: ]+\)/.exec(state ? status : '') ?? [])].join(' ');

/**
 * The output of containers on both streams as one text, by the times that begin the lines; the order of each
 * stream is kept, and a line without a time belongs to the one before it.
 */
export function mergedLogs({ stdout, stderr, values }: Output): string {
  const timed = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\S* ?/;
  const lines = [stdout, stderr].flatMap((text) => {
    let time = '';
    const each = text === '' ? [] : text.replace(/\n$/, '').split('\n');
    return each.map((line) => {
      const [stamp = ''] = timed.exec(line) ?? [];
      if (stamp > time) time = stamp;
      return { line, time };
    });
  });
  const inOrder = lines.toSorted((a, b) => Number(a.time > b.time) - Number(a.time < b.time));
  const shown = inOrder.map(({ line }) => (values['timestamps'] === true ? line : line.replace(timed, '')));
  return shown.join('\n') || 'no lines';
}
