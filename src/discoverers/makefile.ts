/**
 * Reads a Makefile without make: `make -p` and `make -n` run `$(shell …)` and recipes marked with `+`. What only make
 * could know (included files, names made of variables, `$(eval …)`) is named, not guessed.
 */
export interface Makefile {
  /** What plain `make` builds. */
  default: string | null;
  targets: Target[];
  /** Patterns such as `%.o`, which cannot be listed as targets. */
  pattern_rules: string[];
  /** Files that may define more targets; not read. */
  includes: string[];
  /** Target names with variables and generated rules, as written. */
  computed: string[];
}

interface Target {
  name: string;
  doc: string | null;
  prerequisites: string[];
  phony: boolean;
  /** Only defined when an `ifeq` or `ifdef` around it holds. */
  conditional: boolean;
  line: number;
}

interface Line {
  text: string;
  number: number;
}

const longestDoc = 200;
/** More than any Makefile has that was written to be read. */
const mostTargets = 5000;
const mostPrerequisites = 200;
const mostCommentLines = 20;

interface Reading {
  readonly targets: Map<string, Omit<Target, 'prerequisites'> & { needs: Set<string> }>;
  readonly patterns: Set<string>;
  readonly computed: Set<string>;
  readonly includes: string[];
  readonly phony: Set<string>;
  /** The first target, and the one that .DEFAULT_GOAL names. */
  first: string | null;
  chosen: string | null;
  /** Conditions that are open. */
  depth: number;
}

/** Reads what is plain. Throws when there are more targets than a person would write. */
export function readMakefile(text: string): Makefile {
  const reading: Reading = {
    targets: new Map(),
    patterns: new Set(),
    computed: new Set(),
    includes: [],
    phony: new Set(),
    first: null,
    chosen: null,
    depth: 0,
  };
  let comments: string[] = [];
  for (const { text: line, number } of interestingLines(text)) {
    if (/^\s*#/.test(line)) {
      comments.push(line.replace(/^\s*#+\s?/, '').trim());
      if (comments.length > mostCommentLines) comments.shift();
      continue;
    }
    const above = comments;
    comments = [];
    const [code, comment] = splitComment(line);
    const statement = code.trim();
    if (readDirective(reading, statement)) continue;
    const rule = readRule(statement);
    if (rule?.isVariable) comments = above;
    else if (rule) addRule(reading, rule, docOf(comment, above), number);
  }
  const { targets, patterns, computed, includes, phony, first, chosen } = reading;
  for (const name of phony) {
    const target = targets.get(name);
    if (target) target.phony = true;
  }
  return {
    default: chosen ?? first,
    targets: [...targets.values()].map(({ name, doc, needs, ...target }) => ({
      name,
      doc,
      prerequisites: [...needs],
      ...target,
    })),
    pattern_rules: [...patterns],
    includes,
    computed: [...computed],
  };
}

/** Takes in a statement that is no rule; false when it may be one. */
function readDirective(reading: Reading, statement: string): boolean {
  if (/^(ifeq|ifneq|ifdef|ifndef)\b/.test(statement)) reading.depth++;
  else if (/^endif\b/.test(statement)) reading.depth = Math.max(0, reading.depth - 1);
  else if (/^[-s]?include\s/.test(statement)) reading.includes.push(...words(statement).slice(1));
  else if (/^\$[({](eval|foreach|call)\b/.test(statement)) reading.computed.add(statement);
  else if (/^\.DEFAULT_GOAL\s*:{0,3}=/.test(statement))
    reading.chosen = statement.replace(/^[^=]*=\s*/, '') || null;
  else return false;
  return true;
}

function addRule(reading: Reading, rule: Rule, doc: string | null, line: number): void {
  const { targets, patterns, computed, phony, depth } = reading;
  for (const name of rule.targets) {
    if (name === '.PHONY') rule.prerequisites.forEach((target) => phony.add(target));
    if (isSpecial(name)) continue;
    if (name.includes('%') && !name.includes('$')) {
      patterns.add(name);
      continue;
    }
    reading.first ??= name;
    if (name.includes('$')) {
      computed.add(name);
      continue;
    }
    const unknown = { name, doc: null, needs: new Set<string>(), phony: false, conditional: depth > 0, line };
    const target = targets.get(name) ?? unknown;
    target.doc ??= doc;
    // A target also defined outside of every condition always exists.
    target.conditional &&= depth > 0;
    for (const prerequisite of rule.prerequisites.slice(0, mostPrerequisites)) target.needs.add(prerequisite);
    targets.set(name, target);
    if (targets.size > mostTargets) throw new Error(`more than ${mostTargets} targets`);
  }
}

/** Lines that are neither recipes nor inside `define`, with continuations joined. */
function* interestingLines(text: string): Generator<Line> {
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/);
  let recipePrefix = '\t';
  let defines = 0;
  let inRule = false;
  for (let index = 0; index < lines.length; index++) {
    const number = index + 1;
    const pieces = [lines[index] ?? ''];
    while (/(?:^|[^\\])(?:\\\\)*\\$/.test(pieces.at(-1) ?? '') && index + 1 < lines.length) {
      index++;
      pieces.push(lines[index] ?? '');
    }
    const joined = pieces.map((piece, at) => (at < pieces.length - 1 ? piece.slice(0, -1) : piece));
    const line = joined.map((piece, at) => (at === 0 ? piece : piece.trim())).join(' ');
    if (inRule && defines === 0 && line.startsWith(recipePrefix)) continue;
    if (/^\s*(?:(?:override|export)\s+)*define\b/.test(line)) defines++;
    else if (/^\s*endef\b/.test(line)) defines = Math.max(0, defines - 1);
    else if (defines === 0) {
      const prefix = /^\s*\.RECIPEPREFIX\s*:{0,3}=\s*(\S?)/.exec(line);
      if (prefix) recipePrefix = prefix[1] || '\t';
      if (isRuleLine(line)) inRule = true;
      yield { text: line, number };
    }
  }
}

// A tab begins a recipe only after a rule; before the first rule it is just a blank.
const isRuleLine = (line: string): boolean =>
  !/^\s*#/.test(line) && readRule(splitComment(line)[0].trim()) !== undefined;

interface Rule {
  targets: string[];
  prerequisites: string[];
  /** `target: NAME = value` sets a variable for a target and is no rule for it. */
  isVariable: boolean;
}

/** The rule a line states; undefined for an assignment or a directive. */
function readRule(statement: string): Rule | undefined {
  const colon = findOutside(statement, ':=');
  if (colon < 1 || statement[colon] === '=') return undefined;
  const operator = /^:+/.exec(statement.slice(colon))?.[0] ?? ':';
  const rest = statement.slice(colon + operator.length);
  if (rest.startsWith('=')) return undefined;
  const isVariable = /^\s*(?:(?:override|export|private|unexport)\s+)*[^\s:=#$]+\s*(?:::?:?|[?+!])?=/.test(
    rest,
  );
  const targets = words(statement.slice(0, colon).replace(/&\s*$/, ''));
  if (targets.length === 0 || /^(export|unexport|override|vpath|undefine|else)$/.test(targets[0] ?? ''))
    return undefined;
  const recipe = findOutside(rest, ';');
  const inputs = recipe < 0 ? rest : rest.slice(0, recipe);
  // `objects: %.o: %.c` has its pattern between two colons.
  const second = findOutside(inputs, ':');
  const prerequisites = words(inputs.slice(second + 1)).filter((word) => word !== '|');
  return { targets, prerequisites, isVariable };
}

/** Index of the first of these characters that is in no `$(…)` or `${…}`; -1 without one. */
function findOutside(text: string, characters: string): number {
  let depth = 0;
  for (let index = 0; index < text.length; index++) {
    const character = text[index] ?? '';
    if (character === '$' && /[({]/.test(text[index + 1] ?? '')) {
      depth++;
      index++;
    } else if (depth > 0 && /[({]/.test(character)) depth++;
    else if (depth > 0 && /[)}]/.test(character)) depth--;
    else if (depth === 0 && characters.includes(character)) return index;
  }
  return -1;
}

/** Split at blanks, but not inside `$(…)`. */
function words(text: string): string[] {
  const found: string[] = [];
  for (let rest = text.trim(); rest !== '';) {
    const end = findOutside(rest, ' \t');
    found.push(end < 0 ? rest : rest.slice(0, end));
    rest = end < 0 ? '' : rest.slice(end).trimStart();
  }
  return found;
}

function splitComment(line: string): [code: string, comment: string] {
  const start = /(?<!\\)#/.exec(line)?.index ?? -1;
  return start < 0 ? [line, ''] : [line.slice(0, start), line.slice(start)];
}

/** `## text` behind the rule, else the comment right above it. */
function docOf(comment: string, above: string[]): string | null {
  const behind = /^##+\s*(.*\S)/.exec(comment)?.[1];
  const lines = above.slice(above.lastIndexOf('') + 1).filter((line) => /[\p{L}\p{N}]/u.test(line));
  return (behind ?? lines.join(' ')).slice(0, longestDoc) || null;
}

/** `.PHONY`, `.SUFFIXES`, `.c.o`: names that make does not take for a goal. */
const isSpecial = (name: string): boolean => name.startsWith('.') && !name.includes('/');
