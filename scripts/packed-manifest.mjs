// prepack and postpack: the published package.json has no `prepare`; what that builds from is not in the package.
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const [manifest, kept] = [here('../package.json'), here('../.tmp/package.json')];

if (process.argv[2] === 'restore') renameSync(kept, manifest);
else {
  // Of a run that was stopped.
  if (existsSync(kept)) renameSync(kept, manifest);
  mkdirSync(here('../.tmp'), { recursive: true });
  const text = readFileSync(manifest, 'utf8');
  writeFileSync(kept, text);
  const { prepare: _, ...scripts } = JSON.parse(text).scripts;
  writeFileSync(manifest, `${JSON.stringify({ ...JSON.parse(text), scripts }, null, 2)}\n`);
}
