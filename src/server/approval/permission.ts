import { ToolcribError } from '../../core/errors.ts';
import { decide, type AskReason, type Policy } from '../../core/policy.ts';
import type { CallContext, PermitRequest } from '../../core/tool.ts';
import type { AuditDecision } from '../../machine/audit/audit.ts';
import { isInside } from '../../machine/paths/inside.ts';
import { presentable } from '../../machine/presentable.ts';
import type { Trust, TrustState } from '../../machine/trust/trust.ts';
import type { Ask } from './approvals.ts';
import { alwaysInWords, grantFor, type Open } from './grant.ts';
import type { Question, Shown } from './question.ts';
import { reasonsToAsk, reasonsInWords, type Reason } from './reasons.ts';

/** What is known of the projects people trust, as far as a permission needs it. */
export type TrustedProjects = Pick<Trust, 'stateOf' | 'isTrusted' | 'covers' | 'trust' | 'grants'>;

/** What became of a call, for its record; `permit` writes it. An answer of a person outlasts what needed none. */
export interface Decided {
  decision?: AuditDecision;
  /** What decided, when a setting did. */
  setting?: string;
  /** The folder the call works in. */
  folder?: string;
}

interface Parts {
  readonly tool: string;
  /** Real absolute paths. */
  readonly roots: readonly string[];
  /** What the settings say about calls that work in these folders, or on files in them: the strictest of it. */
  policyFor(places: readonly string[]): Promise<Policy>;
  /** Asked for only when something depends on it. */
  trust(): Promise<TrustedProjects>;
  readonly ask: Ask;
  readonly decided: Decided;
}

/** What `permit` and `trusts` of the context of one tool's call do. */
export function createPermission(parts: Parts): Pick<CallContext, 'permit' | 'trusts'> {
  const { tool, roots, policyFor, trust, ask, decided } = parts;

  /** What is left to ask about, and what the answer depends on when that is code of the project. */
  async function openOf(reasons: readonly Reason[], request: PermitRequest) {
    const places = projectsOf(request, roots);
    const projects = await trust();
    const code = reasons.some(isExecute) ? await codeIn(places, projects) : undefined;
    const left = reasons
      .filter((reason) => !isExecute(reason) || code)
      .map((reason): Open => ({ reason, grant: grantFor(reason, request, code) }));
    const isGranted = ({ grant }: Open) =>
      grant !== undefined &&
      [...places.keys()].every((project) => projects.grants.has(project, tool, grant.key, grant.digest));
    const open = left.filter((one) => !isGranted(one));
    return { open, code: open.some(({ reason }) => isExecute(reason)) ? code : undefined };
  }

  /** Asks, and keeps what is said for longer. Throws unless it is a yes. */
  async function askAbout(
    open: readonly Open[],
    code: Code | undefined,
    request: PermitRequest,
    policy: Policy,
  ) {
    const projects = [...projectsOf(request, roots).keys()];
    const answer = await ask(await questionOf(tool, request, open, code));
    if (answer === 'cannot-ask') {
      decided.decision = 'denied';
      const project = code?.project ?? projects[0] ?? request.folder;
      const setting = leaveUnasked({ tool, command: request.command, project }, open, policy);
      decided.decision = 'allow';
      return setting;
    }
    decided.decision = `asked:${answer}`;
    if (answer === 'no') throw refused(tool);
    if (answer === 'trust' && code) await (await trust()).trust(code.project, code.digest);
    if (answer !== 'always') return undefined;
    const { grants } = await trust();
    const says = alwaysInWords(tool, request, open);
    for (const project of projects)
      for (const { grant } of open) if (grant) grants.add({ project, tool, says, ...grant });
    return undefined;
  }

  return {
    trusts: async (folder) => (await trust()).isTrusted(projectOf(folder, roots), folder),
    async permit(request) {
      const { effects, command, asks, folder, touches = [] } = request;
      decided.folder = folder;
      const policy = await policyFor([folder, ...touches]);
      const subject = { tool, effects, command, asks, trusted: false };
      const verdict = decide(subject, policy);
      if (verdict.decision === 'deny') {
        Object.assign(decided, { decision: 'denied', setting: verdict.setting } satisfies Decided);
        throw new ToolcribError('EFFECT_DENIED', `${tool} is not allowed: ${verdict.setting}.`);
      }
      const reasons = reasonsToAsk(subject, policy);
      const { open, code } = reasons.length > 0 ? await openOf(reasons, request) : nothingOpen;
      const setting = open.length > 0 ? await askAbout(open, code, request, policy) : undefined;
      if (setting !== undefined) decided.setting = setting;
      decided.decision ??= 'allow';
    },
  };
}

const nothingOpen = { open: [], code: undefined };

/** Code that a call would run, of projects that nobody has trusted as they are. */
interface Code {
  readonly states: readonly TrustState[];
  /** The first of them. */
  readonly project: string;
  readonly digest: string;
  /** Whether the digest is about all that runs in the folder of the call, so that a lasting answer can be. */
  readonly covered: boolean;
}

/** The projects that a call works in, each with what counts there: its folder, and what else it names. */
function projectsOf({ folder, touches = [] }: PermitRequest, roots: readonly string[]) {
  const places = new Map<string, string[]>([[projectOf(folder, roots), [folder]]]);
  for (const path of touches) {
    const project = projectOf(path, roots);
    const known = places.get(project);
    if (known) known.push(path);
    else if (roots.includes(project)) places.set(project, [path]);
  }
  return places;
}

/** What would run that nobody has trusted as it is; undefined when somebody has. */
async function codeIn(
  places: ReadonlyMap<string, readonly string[]>,
  projects: TrustedProjects,
): Promise<Code | undefined> {
  const trusted = await Promise.all([...places].map((place) => projects.isTrusted(...place)));
  const left = [...places].filter((_, at) => !trusted[at]);
  const [first] = left;
  if (first === undefined) return undefined;
  const [states, covered] = await Promise.all([
    Promise.all(left.map((place) => projects.stateOf(...place))),
    projects.covers(...first),
  ]);
  const digest = states.map((state) => state.digest).join('\n');
  // An answer is kept for one project.
  return { states, project: first[0], digest, covered: covered && left.length === 1 };
}

const isExecute = ({ because }: Reason): boolean => because === 'execute';

/** The root a folder is in, the innermost of several; the folder itself when it is in none. */
export function projectOf(folder: string, roots: readonly string[]): string {
  const around = roots.filter((root) => isInside(folder, root));
  return (
    around.reduce<string | undefined>(
      (inner, root) => (inner === undefined || root.length > inner.length ? root : inner),
      undefined,
    ) ?? folder
  );
}

/** One question about everything; its answer covers all of it. */
async function questionOf(
  tool: string,
  request: PermitRequest,
  open: readonly Open[],
  code: Code | undefined,
): Promise<Question> {
  const because = open.map(({ reason }) => reason.because);
  const settings = open.flatMap(({ reason }) => reason.setting ?? []);
  const { command, folder, effects, shows = [] } = request;
  const evidence = code ? await evidenceOf(code) : [];
  return {
    tool,
    because,
    ...(settings.length > 0 && { setting: settings.join(', ') }),
    effects,
    ...(command !== undefined && { command }),
    folder,
    shows: [...shows, ...evidence],
    offers: {
      ...(open.every(({ grant }) => grant) && {
        always: `Yes, and always: ${alwaysInWords(tool, request, open)}`,
      }),
      ...(code?.covered &&
        code.states.every(({ apart }) => !apart) && { trust: 'Yes, and trust this project as it is now' }),
    },
    // What is too long to be shown, and what comes of an "always", are part of what is agreed to.
    about: JSON.stringify([code?.digest, open.map(({ grant }) => grant)]),
  };
}

async function evidenceOf({ states }: Code): Promise<Shown[]> {
  const { evidenceShown } = await import('./trust-question.ts');
  return (await Promise.all(states.map(evidenceShown))).flat();
}

/** The settings that allow it when nobody can be asked. Throws NEEDS_CONFIRM unless each of the reasons has one. */
function leaveUnasked(
  { tool, command, project }: { tool: string; command: string | undefined; project: string },
  open: readonly Open[],
  { whenUnasked }: Policy,
): string {
  const reasons = [...new Set(open.map(({ reason }) => reason.because))];
  const settings = (names: readonly AskReason[]) =>
    names.map((because) => `whenUnasked.${because}`).join(' and ');
  const missing = open.map(({ reason }) => reason).filter(({ because }) => whenUnasked[because] !== 'allow');
  if (missing.length === 0) return settings(reasons);
  const names = [...new Set(missing.map(({ because }) => because))];
  const told = [...new Set(missing.flatMap(({ setting }) => setting ?? []))];
  const rule = isAllowedByRule(missing) ? `--rule '${ruleAbout(tool, command)}=allow', or ` : '';
  const trusting = names.includes('execute')
    ? ` A person can also trust the project as it is now, without a restart: toolcrib trust ${JSON.stringify(project)}.`
    : '';
  throw new ToolcribError(
    'NEEDS_CONFIRM',
    `${tool} was not run. A person has to be asked, and this client cannot ask one: ${reasonsInWords(names)}${told.length > 0 ? ` (${told.join(', ')})` : ''}.`,
    `The operator can allow it: ${rule}${settings(names)} "allow" in the configuration file, or --when-unasked ${names.map((because) => `${because}=allow`).join(' --when-unasked ')}, then start the server again.${trusting}`,
  );
}

/** A rule that allows a call takes away what is usually asked, but no question of a setting. */
const isAllowedByRule = (missing: readonly Reason[]): boolean =>
  missing.every(({ because, setting }) => setting === undefined && ruled.has(because)) &&
  missing.some(({ because }) => because !== 'execute');

const ruled: ReadonlySet<AskReason> = new Set(['command', 'destroy', 'execute']);

/** Longer lines nobody copies. Without quotes it can be pasted; the name of the setting is looked for in what is said. */
const ruleAbout = (tool: string, command = ''): string =>
  /^[^\p{C}\p{Zl}\p{Zp}'"`]{1,100}$/u.test(command) &&
  presentable(command) === command &&
  !command.includes('whenUnasked')
    ? `${tool}(${command})`
    : tool;

const refused = (tool: string): ToolcribError =>
  new ToolcribError(
    'NOT_CONFIRMED',
    `${tool} was not run: the person was asked, and did not say yes.`,
    'Do not try it another way; ask what they would rather have.',
  );
