import type { PermitRequest } from '../../core/tool.ts';
import { nameOf, type Reason } from './reasons.ts';

/** What an answer of "always" is kept for, beside the tool and the project. */
export interface Grant {
  readonly key: string;
  /** The content of the project it holds for; whatever it is when left out. */
  readonly digest?: string;
}

/** A reason to ask that nothing has answered yet. */
export interface Open {
  readonly reason: Reason;
  /** What a lasting yes would be kept as; undefined when there can be none. */
  readonly grant: Grant | undefined;
}

/**
 * What a lasting yes to a reason covers: the tool in this project, unless the request says otherwise; for code, this very
 * command in this folder. It never covers another reason: one that was given to losing work is none to running code. Undefined when the reason allows no lasting yes,
 * because next time it is something else that is agreed to: another script, another file that others run.
 */
export function grantFor(
  reason: Reason,
  { always, command, folder }: PermitRequest,
  code: { readonly digest: string; readonly covered: boolean } | undefined,
): Grant | undefined {
  const { because } = reason;
  if (because === 'execute' && !code?.covered) return undefined;
  const grant = (kind: string, ...what: string[]): Grant => ({
    key: JSON.stringify([nameOf(reason), kind, ...what]),
    ...(because === 'execute' && code && { digest: code.digest }),
  });
  if (always) return grant('key', always.key);
  if (because === 'protected' || because === 'script') return undefined;
  if (!isBound(reason)) return grant('tool');
  if (command !== undefined) return grant('command', folder, command);
  return because === 'command' ? undefined : grant('tool');
}

/** What code does is up to its arguments, so that an answer is about one command line. */
const isBound = ({ because, setting = '' }: Reason): boolean =>
  because === 'command' || because === 'execute' || setting.startsWith('effects.execute');

/** What an "always" to all of these is about. */
export function alwaysInWords(
  tool: string,
  { always, command }: PermitRequest,
  open: readonly Open[],
): string {
  const isOne = command !== undefined && open.some(({ reason }) => isBound(reason));
  const what = always?.says ?? (isOne ? 'this very command in this folder' : `${tool} in this project`);
  return open.some(({ reason }) => reason.because === 'execute')
    ? `${what}, while what it would run stays as it is now`
    : what;
}
