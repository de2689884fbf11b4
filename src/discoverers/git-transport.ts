import { setting, untrusted, usersValue, type Entries, type Entry } from './git-entries.ts';

/**
 * Keys of a repository that say how another machine is reached, and what takes their place: what the user has
 * configured, or this. In lower case, as git prints them.
 */
const replaced: Readonly<Record<string, string>> = {
  'core.sshcommand': 'ssh -oBatchMode=yes',
  'ssh.variant': 'auto',
  // Has git ask this for the branches of a borrowed repository; none is a good answer.
  'core.alternaterefscommand': 'true',
};

/** The same for keys of one server. An empty one ends a list, or says that there is no proxy. */
const replacedHttp: Readonly<Record<string, string>> = { proxy: '', sslverify: 'true', extraheader: '' };

/** Never used by what git is told here: no prompts, and no transports but https and ssh. */
const idle = /^(?:core\.(?:gitproxy|askpass)|protocol\..*)$/;

/** Settings that neither send anything elsewhere nor weaken the connection. */
const harmless =
  /^(?:http\.(?:.*\.)?(?:postbuffer|version|maxrequests|minsessions|lowspeedlimit|lowspeedtime)|credential\.(?:.*\.)?(?:username|usehttppath)|protocol\.version)$/;

/** What comes from a remote goes where only that is, or nowhere (`^`: is left out). */
const ordinaryFetch = /^(?:\^[^:]*|\+?refs\/(?:[^:]*:refs\/remotes\/.*|tags\/[^:]*:refs\/tags\/.*|[^:]*))$/;

const nameOf = (key: string): string => key.slice(key.lastIndexOf('.') + 1);
const isHelper = ({ key }: Entry): boolean => /^credential\.(?:.*\.)?helper$/.test(key);

/**
 * Arguments with which git reaches other machines as the user has configured it, whatever the repository says, and
 * the keys that are set aside so. Also for what does not use the network by itself: git-lfs does, and asks git.
 */
export function usersTransport(entries: Entries): { argv: string[]; off: string[] } {
  const argv: string[] = [];
  const off: string[] = [];
  for (const entry of entries.own) {
    const given = harmless.test(entry.key) ? undefined : replacementOf(entry, entries);
    if (given === undefined) continue;
    argv.push(...given);
    off.push(entry.key);
  }
  if (entries.own.some(isHelper)) {
    // The empty one ends the list that the repository has added to.
    argv.push(...setting('credential.helper', ''));
    for (const { key, value } of entries.users.filter(isHelper)) argv.push(...setting(key, value));
  }
  return { argv, off };
}

/** Arguments in place of an entry; none where nothing has to be said against it; undefined where nothing can be. */
function replacementOf(entry: Entry, entries: Entries): string[] | undefined {
  const { key } = entry;
  if (idle.test(key) || isHelper(entry)) return [];
  const otherwise = Object.hasOwn(replaced, key) ? replaced[key] : undefined;
  if (otherwise !== undefined) return setting(key, usersValue(entries, key) ?? otherwise);
  if (/^remote\..*\.proxy$/.test(key)) return setting(key, usersValue(entries, 'http.proxy') ?? '');
  const name = nameOf(key);
  const neutral =
    key.startsWith('http.') && Object.hasOwn(replacedHttp, name) ? replacedHttp[name] : undefined;
  if (neutral === undefined) return undefined;
  return setting(key, usersValue(entries, key) ?? usersValue(entries, `http.${name}`) ?? neutral);
}

const reachesOut =
  /^(?:(?:credential|url|http)\..*|remote\..*\.(?:uploadpack|receivepack|vcs|proxy|push|fetch|mirror)|fetch\.bundleuri)$/;

/** Throws REPO_UNTRUSTED for what would be reached elsewhere than it seems, and cannot be set aside. */
export function refuseDetours(entries: Entries): void {
  const found = entries.own.find(
    (entry) =>
      reachesOut.test(entry.key) &&
      !harmless.test(entry.key) &&
      !isOrdinaryFetch(entry) &&
      replacementOf(entry, entries) === undefined,
  );
  if (found) throw untrusted(found.key);
}

/**
 * Throws REPO_UNTRUSTED for what would move or overwrite branches that fetch and push promise to leave alone. After a
 * push, git writes what was pushed to where a fetch would put it.
 */
export function refuseOverwriting({ own }: Entries): void {
  const found = own.find(
    (entry) => /^remote\..*\.(?:push|mirror|fetch)$/.test(entry.key) && !isOrdinaryFetch(entry),
  );
  if (found) throw untrusted(found.key);
}

const isOrdinaryFetch = ({ key, value }: Entry): boolean =>
  /^remote\..*\.fetch$/.test(key) && ordinaryFetch.test(value);
