import { setting, usersValue, type Entries } from './git-entries.ts';

/**
 * All sections of git 2.55, and of git-lfs, in which no key names anything to run that git-guard.ts does not know of. Not
 * the other way round: what a later git may run is set aside before anybody has heard of it.
 */
const knownSections: ReadonlySet<string> = new Set(
  (
    'add advice alias am apply attr author bitmappseudomerge blame branch browser bundle checkout clean clone color ' +
    'column commit commitgraph committer completion credential credentialcache credentialstore difftool extensions ' +
    'fastimport feature fetch format fsck fsmonitor gc gitcvs gitweb gpg grep gui guitool help hook http i18n imap include ' +
    'includeif index init instaweb interactive lfs log lsrefs mailinfo mailmap maintenance man mergetool notes pack pager ' +
    'pretty promisor protocol pull push rebase receive reftable remotes repack replay rerere revert safe sendemail ' +
    'sequence showbranch sideband sparse splitindex ssh stash status svn svn-remote tag tar trace2 trailer transfer ' +
    'uploadarchive uploadpack uploadpackfilter url user versionsort web worktree'
  ).split(' '),
);

/** The same for sections of which git's forks, too, make programs known: key by key. Those that cannot be let be are left out. */
const knownKeys: Readonly<Record<string, ReadonlySet<string>>> = Object.fromEntries(
  Object.entries({
    core:
      'abbrev alternaterefscommand alternaterefsprefixes askpass attributesfile autocrlf bare bigfilethreshold ' +
      'checkroundtripencoding checkstat commentchar commentstring commitgraph compression createobject deltabasecachelimit ' +
      'eol excludesfile filemode filesreflocktimeout fscache fsmonitor fsmonitorhookversion fsync fsyncmethod ' +
      'fsyncobjectfiles gitproxy hidedotfiles hookspath ignorecase ignorestat lockfilepid logallrefupdates longpaths ' +
      'loosecompression maxtreedepth multipackindex notesref packedgitlimit packedgitwindowsize packedrefstimeout ' +
      'precomposeunicode prefersymlinkrefs preloadindex protecthfs protectntfs quotepath repositoryformatversion restrictinheritedhandles safecrlf ' +
      'sharedrepository sparsecheckout sparsecheckoutcone splitindex sshcommand symlinks trustctime untrackedcache ' +
      'usereplacerefs warnambiguousrefs whitespace worktree',
    diff:
      'algorithm autorefreshindex binary cachetextconv colormoved colormovedws command context dirstat dstprefix external ' +
      'funcname guitool ignoresubmodules indentheuristic interhunkcontext mnemonicprefix noprefix orderfile relative ' +
      'renamelimit renames srcprefix statgraphwidth statnamewidth submodule suppressblankempty textconv tool trustexitcode ' +
      'wordregex wserrorhighlight xfuncname',
    filter: 'clean smudge process required',
    merge:
      'autostash branchdesc conflictstyle default defaulttoupstream directoryrenames driver ff guitool log name recursive ' +
      'renamelimit renames renormalize stat suppressdest tool verbosity verifysignatures',
    remote:
      'fetch followremotehead mirror negotiationinclude negotiationrestrict partialclonefilter promisor proxy ' +
      'proxyauthmethod prune prunetags push pushdefault pushurl receivepack serveroption skipdefaultupdate skipfetchall ' +
      'tagopt uploadpack url vcs',
    submodule:
      'active alternateerrorstrategy alternatelocation branch fetchjobs fetchrecursesubmodules gitdir ignore path ' +
      'propagatebranches recurse shallow update url',
  }).map(([section, keys]) => [section, new Set(keys.split(' '))]),
);

/** Arguments with which keys of the repository that nobody here knows say what the user has set, or nothing. */
export function unknownOff(entries: Entries): string[] {
  const unknown = new Set(entries.own.flatMap(({ key }) => (isKnown(key) ? [] : [key])));
  return [...unknown].flatMap((key) => setting(key, usersValue(entries, key) ?? ''));
}

function isKnown(key: string): boolean {
  const section = key.slice(0, key.indexOf('.'));
  return Object.hasOwn(knownKeys, section)
    ? knownKeys[section]?.has(key.slice(key.lastIndexOf('.') + 1)) === true
    : knownSections.has(section);
}
