import { gitParts } from './git-parts.ts';
import { packageParts } from './package-parts.ts';
import type { Counting } from './runs.ts';

/** A plain requirement, perhaps with markers and hashes, as in PEP 508. */
const plain = /^[\w.-]+\s*(?:\[[\w\s.,-]*\])?\s*(?:\(?[\s<>=!~\w.,*+-]*\)?)?\s*(?:;[^\\]*)?$/;

/** A longer line is not looked at: that would take time in the square of its length. */
const longestPlain = 500;

/** Of requirements of pip the options, addresses and paths, one a line. */
function requirements(text: string): string {
  const lines = text.replaceAll(/\\\r?\n/g, ' ').split(/\r?\n/);
  return lines
    .map((line) =>
      line
        .replace(/(?:^|\s)#.*$/, '')
        .replaceAll(/\s--hash=\S+/g, '')
        .trim(),
    )
    .filter((line) => line.length > longestPlain || (!plain.test(line) && line !== ''))
    .join('\n');
}

/** Variables by which docker compose, Node.js and others are told what to run and whom to talk to. */
const deciding =
  /^\s*(?:export\s+)?(?:COMPOSE_|DOCKER_|BUILDX_|NODE_OPTIONS|NODE_PATH|NPM_CONFIG_|BUN_|DENO_|PATH\b|PYTHON|LD_|DYLD_|GIT_|BASH_ENV|ENV\b|SHELL\b|JAVA_|JDK_|MAVEN_|GRADLE_|RUBY|PERL5|RUSTC|CARGO_|GOFLAGS|MAKEFLAGS)/i;

const variables = (text: string): string =>
  text
    .split(/\r?\n/)
    .filter((line) => deciding.test(line))
    .join('\n');

/** What of a text decides what runs; undefined when all of it does, since it cannot be understood. */
export const parts: Readonly<Record<Counting, (text: string) => string | undefined>> = {
  package: packageParts,
  git: gitParts,
  requirements,
  variables,
};
