import { ToolcribError } from '../core/errors.ts';

interface Request {
  /** Who wants it: turns go round between owners, and within one in the order they were asked for. */
  readonly owner: string;
  readonly signal?: AbortSignal | undefined;
  /** How long to wait at most, in milliseconds. */
  readonly timeoutMs?: number | undefined;
}

/** Ends a turn; more than once does nothing more. */
export type EndTurn = () => void;

export interface FairTurns {
  /** Waits for a turn; what it returns ends it. Undefined when it was cancelled, or took too long, before it came. */
  take(request: Request): Promise<EndTurn | undefined>;
  /** A turn if there is one at once. */
  takeNow(): EndTurn | undefined;
  /** How many of an owner are waiting. */
  waiting(owner: string): number;
}

/** Who has a turn and needs no more than a moment hands it on at once; after so long in a row, what else is to be done comes first. */
const longestRowMs = 10;

/** Lets at most so many go on at a time; when one ends, the next owner in the round has the turn. */
export function createFairTurns(most: number): FairTurns {
  let taken = 0;
  // In the order of the round: an owner that has had a turn goes to the end, one that waits for none is not in it.
  const round = new Map<string, Set<() => void>>();
  const handOn = () => {
    const [next] = round;
    if (!next) return void taken--;
    const [owner, queue] = next;
    const [come] = queue;
    round.delete(owner);
    if (queue.size > 1) round.set(owner, queue);
    // The next takes this one's place, so the count stays.
    come?.();
  };
  let rowSince: number | undefined;
  const pass = () => {
    if (round.size === 0) return handOn();
    const now = performance.now();
    if (rowSince === undefined) {
      rowSince = now;
      setImmediate(() => (rowSince = undefined));
    }
    if (now - rowSince < longestRowMs) handOn();
    else setImmediate(handOn);
  };
  const turn = (): EndTurn => {
    let ended = false;
    return () => {
      if (ended) return;
      ended = true;
      pass();
    };
  };
  // While somebody waits, all turns are taken.
  const takeNow = () => (taken < most ? (taken++, turn()) : undefined);
  return {
    takeNow,
    take({ owner, signal, timeoutMs }) {
      if (signal?.aborted) return Promise.resolve(undefined);
      const now = takeNow();
      if (now) return Promise.resolve(now);
      return new Promise((resolve) => {
        const queue = round.get(owner) ?? new Set();
        const leave = (result: EndTurn | undefined) => {
          queue.delete(come);
          if (queue.size === 0 && round.get(owner) === queue) round.delete(owner);
          clearTimeout(timer);
          signal?.removeEventListener('abort', give);
          resolve(result);
        };
        const come = () => leave(turn());
        const give = () => leave(undefined);
        const timer = timeoutMs === undefined ? undefined : setTimeout(give, timeoutMs);
        signal?.addEventListener('abort', give, { once: true });
        queue.add(come);
        round.set(owner, queue);
      });
    },
    waiting: (owner) => round.get(owner)?.size ?? 0,
  };
}

interface Limits {
  /** Calls at a time, of all owners. */
  readonly calls: number;
  /** Calls of one owner in a second, over time. */
  readonly callsPerSecond: number;
  /** Calls of one owner that may wait. */
  readonly mostWaiting?: number;
}

export interface Admission {
  /**
   * Waits until a call may go on; what it returns ends the call. Throws BUSY when too many of this owner are waiting
   * already, CANCELLED when the signal comes first.
   */
  admit(owner: string, signal?: AbortSignal): Promise<EndTurn>;
  /** Owners about which something is remembered. */
  readonly owners: number;
}

/** What an owner may save up: a model that looks at many files at once is not to be slowed down. */
const burstSeconds = 5;
/** A call that waits is a closure and a request of some kilobytes at most. */
const usualWaiting = 5_000;

/** An owner's calls: how far its allowance is used up, and who waits for more of it. */
interface Account {
  /** When, in milliseconds, all that was used will have been made up for. A time that is past: nothing is used up. */
  settledAt: number;
  /** Calls that wait, be it for the allowance or for a turn. */
  waiting: number;
  /** Those that wait for the allowance. */
  readonly queue: Set<() => void>;
  timer: NodeJS.Timeout | undefined;
}

/** Lets calls in: so many at a time, in turns between owners, and for each owner at a rate. Nothing is dropped but by BUSY. */
export function createAdmission({ calls, callsPerSecond, mostWaiting = usualWaiting }: Limits): Admission {
  const turns = createFairTurns(calls);
  const interval = 1000 / callsPerSecond;
  const burst = Math.max(1, callsPerSecond * burstSeconds) * interval;
  // The one that was used longest ago first.
  const accounts = new Map<string, Account>();

  /** The account of an owner, as the one used last. Two that are settled are forgotten, so that they never add up. */
  const accountOf = (owner: string, now: number): Account => {
    const account = accounts.get(owner) ?? { settledAt: now, waiting: 0, queue: new Set(), timer: undefined };
    accounts.delete(owner);
    accounts.set(owner, account);
    let looked = 0;
    for (const [name, { settledAt, waiting }] of accounts) {
      if (++looked > 2 || name === owner) break;
      if (settledAt <= now && waiting === 0) accounts.delete(name);
    }
    return account;
  };
  const spend = (account: Account, now: number): boolean => {
    const settledAt = Math.max(account.settledAt, now) + interval;
    if (settledAt - now > burst) return false;
    account.settledAt = settledAt;
    return true;
  };
  const letIn = (account: Account) => {
    account.timer = undefined;
    for (const come of account.queue) {
      const now = performance.now();
      if (spend(account, now)) come();
      else {
        account.timer = setTimeout(letIn, account.settledAt + interval - burst - now, account);
        return;
      }
    }
  };
  /** Whether the allowance came before the signal. */
  const allowance = (account: Account, signal: AbortSignal | undefined) =>
    new Promise<boolean>((resolve) => {
      const leave = (came: boolean) => {
        account.queue.delete(come);
        signal?.removeEventListener('abort', give);
        if (account.queue.size === 0) {
          clearTimeout(account.timer);
          account.timer = undefined;
        }
        resolve(came);
      };
      const come = () => leave(true);
      const give = () => leave(false);
      signal?.addEventListener('abort', give, { once: true });
      account.queue.add(come);
      if (account.queue.size === 1) letIn(account);
    });

  const wait = async (account: Account, owner: string, signal: AbortSignal | undefined, paid: boolean) => {
    account.waiting++;
    try {
      if (!paid && !(await allowance(account, signal))) throw cancelled();
      const end = await turns.take({ owner, signal });
      if (!end) throw cancelled();
      return end;
    } finally {
      account.waiting--;
    }
  };
  return {
    async admit(owner, signal) {
      if (signal?.aborted) throw cancelled();
      const now = performance.now();
      const account = accountOf(owner, now);
      if (account.waiting >= mostWaiting) throw tooMany(mostWaiting);
      const paid = account.queue.size === 0 && spend(account, now);
      return (paid ? turns.takeNow() : undefined) ?? wait(account, owner, signal, paid);
    },
    get owners() {
      return accounts.size;
    },
  };
}

const cancelled = () => new ToolcribError('CANCELLED', 'The call was cancelled while it was waiting.');

const tooMany = (most: number) =>
  new ToolcribError(
    'BUSY',
    `${most} calls of this client are waiting already.`,
    'Wait for some of them to end, and make this one again; budgets.calls and budgets.callsPerSecond are the limits.',
  );
