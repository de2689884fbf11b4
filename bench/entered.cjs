// Runs a readable build, and tells the parent, whenever it asks, which functions of src/ were entered since it asked last.
const { Session } = require('node:inspector');
const { readFileSync } = require('node:fs');
const { SourceMap } = require('node:module');
const { fileURLToPath } = require('node:url');

const [server, ...args] = process.argv.slice(2);
const session = new Session();
session.connect();
const post = (method, params) => {
  let answer;
  session.post(method, params, (error, result) => {
    if (error) throw new Error(error.message);
    answer = result;
  });
  return answer;
};
post('Profiler.enable');
post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });

process.on('message', () => {
  const { result } = post('Profiler.takePreciseCoverage');
  process.send(result.filter(({ url }) => url.startsWith('file:')).flatMap(enteredOf));
});
process.channel.unref();
require(server)
  .serveCommand(args)
  .then((code) => process.exit(code));

/** `src/a.ts`, `function:line`, and how often it was entered, each time it went on after an `await` counted. */
function enteredOf({ url, functions }) {
  const source = readFileSync(fileURLToPath(url), 'utf8');
  const comment = '\n//# sourceMappingURL=data:application/json;base64,';
  const at = source.lastIndexOf(comment);
  if (at < 0) return [];
  const map = new SourceMap(JSON.parse(Buffer.from(source.slice(at + comment.length), 'base64')));
  return functions.flatMap(({ functionName, ranges: [{ startOffset, count }] }) => {
    // The whole file is a function as well, and what has no name is a part of the one that it stands in.
    if (count === 0 || startOffset === 0 || functionName === '') return [];
    const before = source.slice(0, startOffset).split('\n');
    const { originalSource, originalLine } = map.findEntry(before.length - 1, before.at(-1).length);
    // Packages have source maps of their own.
    const file = /^[./]*(src\/.*\.ts)$/.exec(originalSource ?? '')?.[1];
    if (!file) return [];
    return [{ file, name: `${functionName}:${originalLine + 1}`, count }];
  });
}
