import { gitParts, type Counted } from './git-parts.ts';
import { lineEnds } from './line-ends.ts';
import { packageParts } from './package-parts.ts';
import { requirementParts } from './requirement-parts.ts';
import type { Counting } from './runs.ts';

/** Variables by which docker compose, Node.js and others are told what to run and whom to talk to. */
const deciding =
  /^\s*(?:export\s+)?(?:COMPOSE_|DOCKER_|BUILDX_|NODE_OPTIONS|NODE_PATH|NPM_CONFIG_|BUN_|DENO_|PATH\b|PYTHON|LD_|DYLD_|GIT_|BASH_ENV|ENV\b|SHELL\b|JAVA_|JDK_|MAVEN_|GRADLE_|RUBY|PERL5|RUSTC|CARGO_|GOFLAGS|MAKEFLAGS)/i;

const variables = (text: string): string =>
  text
    .split(lineEnds)
    .filter((line) => deciding.test(line))
    .join('\n');

/**
 * A rule of make without a recipe, a comment, or nothing: compilers write which headers a source includes, and do so with
 * every build. With a letter that make takes for more, a line counts.
 */
const dependency = /^(?:#[^\\]*|[^\s=$`;&|()!%#][^=$`;&|()!%#]*|[ ]+[^\s=$`;&|()!%#:][^=$`;&|()!%#:]*)?$/;

/** What looks like one, and is an order to make. */
const order = /^\s*(?:-?include|-?load|sinclude|define|export|vpath|\.[A-Z])/;

const dependencies = (text: string): string =>
  text
    .split(lineEnds)
    .filter((line) => !dependency.test(line) || order.test(line))
    .join('\n');

const wholly =
  (of: (text: string) => string | undefined) =>
  (text: string): Counted | undefined => {
    const counted = of(text);
    return counted === undefined ? undefined : { text: counted };
  };

/**
 * What of a text decides what runs; undefined when all of it does, since it cannot be understood. Takes time in the
 * length of the text; may throw for what is nested too deeply.
 */
export const parts: Readonly<Record<Counting, (text: string) => Counted | undefined>> = {
  package: wholly(packageParts),
  git: gitParts,
  requirements: wholly(requirementParts),
  variables: wholly(variables),
  dependencies: wholly(dependencies),
};
