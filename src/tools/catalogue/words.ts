import type { Role } from '../../core/program.ts';

/** Words that people use for the role of an action. */
export const roleWords: Readonly<Record<Role, string>> = {
  status: 'where version control stands',
  test: 'run the tests of the project',
  lint: 'lint: find problems in the code',
  types: 'check types',
  build: 'build or compile the project',
  format: 'format the code',
  tasks: 'list scripts, tasks, targets',
  task: 'run a script, task or target',
  list: 'list installed packages',
  outdated: 'outdated packages, newer versions',
  audit: 'known vulnerabilities, security',
  why: 'why is this package installed',
  install: 'install the dependencies of the project',
  add: 'add a dependency, a package',
  remove: 'remove a dependency, a package',
  update: 'update dependencies, packages',
  query: 'select rows with SQL',
  tables: 'list the tables of a database',
  describe: 'columns of a table',
};

/** Words that say nothing about the subject of a query. */
const stopWords = new Set(
  [
    'a an the which there where of to in on for from with by and or is are be it its this that',
    'my our me i do does how can what all any some get please want need',
  ].flatMap((line) => line.split(' ')),
);

/** Words that mean the same in a query; each line is one meaning. */
const synonyms: readonly (readonly string[])[] = [
  ['delete', 'remove', 'uninstall', 'drop', 'erase', 'rm'],
  ['list', 'show', 'ls', 'display', 'see', 'print', 'view'],
  ['add', 'install', 'i'],
  ['create', 'make', 'new', 'init'],
  ['run', 'execute', 'start', 'launch', 'exec'],
  ['stop', 'kill', 'end', 'terminate', 'halt'],
  ['undo', 'revert', 'restore', 'discard', 'reset', 'rollback'],
  ['change', 'edit', 'modify', 'diff', 'difference', 'compare'],
  ['history', 'log'],
  ['command', 'program'],
  ['details', 'info', 'inspect', 'describe', 'facts'],
  ['throw', 'away', 'discard', 'reset', 'lose'],
  ['author', 'blame', 'who', 'annotate'],
  ['test', 'tests', 'spec', 'check'],
  ['build', 'compile', 'make'],
  ['package', 'dependency', 'module', 'library'],
  ['update', 'upgrade', 'bump', 'outdated', 'newer'],
  ['search', 'find', 'grep', 'look'],
  ['sql', 'query', 'select', 'statement'],
  ['table', 'tables', 'schema', 'describe', 'columns'],
  ['stash', 'aside', 'shelve'],
  ['switch', 'checkout'],
  ['script', 'task', 'target'],
  ['container', 'containers', 'docker'],
  ['vulnerability', 'audit', 'advisory', 'security'],
  ['export', 'dump', 'backup'],
  ['running', 'active', 'process'],
];

/**
 * The words of a text as they are compared: in lower case, without endings and without stop words.
 * `listBranches` alone is two words; `JavaScript` in a sentence is one.
 */
export function wordsOf(text: string): string[] {
  const parts = /\s/.test(text) ? text : text.replaceAll(/([a-z])([A-Z])/g, '$1 $2');
  return parts
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '' && !stopWords.has(word))
    .map(stemOf);
}

/** A word without the endings of plurals and verbs. Names and titles do not need all of Porter's stemmer. */
function stemOf(word: string): string {
  // `running` asks for a state, such as `docker ps` shows; `run` asks for an act.
  if (word === 'running') return word;
  if (word.length > 4 && word.endsWith('ies')) return `${word.slice(0, -3)}y`;
  if (word.length > 5 && word.endsWith('ing')) return undoubled(word.slice(0, -3));
  if (word.length > 4 && word.endsWith('ed')) return undoubled(word.slice(0, -2));
  if (word.length > 3 && /[^su]s$/.test(word)) return word.replace(/(?<=ch|sh|x)es$|s$/, '');
  return word;
}

/** A stem without the doubled consonant or the e before its ending: `runn` is `run`; `install` stays. */
const undoubled = (stem: string): string =>
  (/([bdgmnpt])\1$/.test(stem) ? stem.slice(0, -1) : stem).replace(/e$/, '');

const groups = synonyms.map((group) => new Set(group.map(stemOf)));

/** Words of the same meaning as a stem, itself left out. */
export const synonymsOf = (stem: string): string[] =>
  [...new Set(groups.filter((group) => group.has(stem)).flatMap((group) => [...group]))].filter(
    (other) => other !== stem,
  );
