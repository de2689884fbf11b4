// npm run hosts [-- HOST…]: the newest releases of hosts that npm has, each with the entry that `toolcrib config HOST`
// writes and a model on loopback that reads one file. Fails when what the file says does not come back to the model.
// Needs the network for npm. KEEP=1 leaves .tmp/hosts, and prints what each host said.
import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { startModel } from './model.mjs';

const started = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));
const work = join(root, '.tmp', 'hosts');
const program = join(root, 'dist', 'toolcrib.cjs');
// Hosts with file tools of their own are not given ours.
const question = { tool: 'run', args: { command: 'cat a.txt' }, result: 'the number is 4711' };
const prompt = 'Read a.txt with toolcrib, and say which number it has.';
const key = 'sk-ant-fake-0123456789abcdefghij';

/** Of each: its package and program, its own settings and how it answers once without asking anybody. */
const hosts = {
  'claude-code': {
    package: '@anthropic-ai/claude-code',
    bin: 'claude',
    files: (_, project) => ({
      '.claude.json': {
        hasCompletedOnboarding: true,
        customApiKeyResponses: { approved: [key.slice(-20)], rejected: [] },
        projects: { [project]: { hasTrustDialogAccepted: true } },
      },
    }),
    env: (url) => ({
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: key,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
      IS_SANDBOX: '1',
    }),
    args: ['--dangerously-skip-permissions', '-p', prompt],
  },
  codex: {
    package: '@openai/codex',
    bin: 'codex',
    files: (url, project) => ({
      '.codex/config.toml': `model = "fake"
model_provider = "fake"
[model_providers.fake]
name = "fake"
base_url = "${url}/v1"
wire_api = "responses"
env_key = "FAKE_KEY"
[projects."${project}"]
trust_level = "trusted"
`,
    }),
    env: () => ({ FAKE_KEY: 'x' }),
    args: ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', prompt],
  },
  gemini: {
    package: '@google/gemini-cli',
    bin: 'gemini',
    files: () => ({
      '.gemini/settings.json': {
        security: { auth: { selectedType: 'gemini-api-key' }, folderTrust: { enabled: false } },
        general: { enableAutoUpdate: false },
        privacy: { usageStatisticsEnabled: false },
      },
    }),
    env: (url) => ({ GEMINI_API_KEY: 'fake', GOOGLE_GEMINI_BASE_URL: url }),
    args: ['-m', 'gemini-2.5-pro', '--yolo', '-p', prompt],
  },
  opencode: {
    package: 'opencode-ai',
    bin: 'opencode',
    files: (url) => ({
      '.config/opencode/opencode.json': {
        autoupdate: false,
        model: 'fake/fake',
        small_model: 'fake/fake',
        provider: {
          fake: {
            npm: '@ai-sdk/openai-compatible',
            options: { baseURL: `${url}/v1`, apiKey: 'x' },
            models: { fake: { tool_call: true, limit: { context: 200_000, output: 8000 } } },
          },
        },
      },
    }),
    env: () => ({ OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_DISABLE_MODELS_FETCH: '1' }),
    args: ['run', prompt],
  },
  copilot: {
    package: '@github/copilot',
    bin: 'copilot',
    files: () => ({}),
    env: (url) => ({
      COPILOT_PROVIDER_BASE_URL: `${url}/v1`,
      COPILOT_PROVIDER_API_KEY: 'x',
      COPILOT_MODEL: 'gpt-5',
      COPILOT_OFFLINE: 'true',
    }),
    args: ['--allow-all-tools', '-p', prompt],
  },
  qwen: {
    package: '@qwen-code/qwen-code',
    bin: 'qwen',
    files: () => ({
      '.qwen/settings.json': {
        $version: 3,
        security: { auth: { selectedType: 'openai' } },
        general: { enableAutoUpdate: false },
        privacy: { usageStatisticsEnabled: false },
      },
    }),
    env: (url) => ({ OPENAI_API_KEY: 'x', OPENAI_BASE_URL: `${url}/v1`, OPENAI_MODEL: 'fake' }),
    args: ['--yolo', '-p', prompt],
  },
};

/** Resolves with a line that says how it went. Rejects when it went wrong. */
async function tryHost(name) {
  const host = hosts[name];
  const home = join(work, name);
  const project = join(home, 'project');
  const installed = join(home, 'installed');
  for (const folder of [project, installed]) mkdirSync(folder, { recursive: true });
  // Some want a newer Node than ours, and npm would take an older release of theirs.
  const packages = [`${host.package}@latest`, 'node@24'];
  await started('npm', ['install', '--prefix', installed, '--no-audit', '--no-fund', ...packages], {
    timeout: 300_000,
  });
  const { version } = JSON.parse(
    readFileSync(join(installed, 'node_modules', host.package, 'package.json'), 'utf8'),
  );
  const model = await startModel(question);
  writeFileSync(join(project, 'a.txt'), `${question.result}\n`);
  // Where a host names no folder, it has to look like a project.
  writeFileSync(join(project, 'package.json'), '{}');
  for (const [path, content] of Object.entries(host.files(model.url, project))) {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), typeof content === 'string' ? content : JSON.stringify(content));
  }
  const bin = join(installed, 'node_modules', '.bin');
  const { PATH, LANG = 'C.UTF-8' } = process.env;
  const env = {
    HOME: home,
    PATH: `${join(installed, 'node_modules/node/bin')}:${PATH}`,
    LANG,
    TERM: 'xterm',
  };
  await started(process.execPath, [program, 'config', name, '--write'], { env, cwd: project });
  // Nobody is there to be asked.
  await started(process.execPath, [program, 'trust', project, '--yes'], { env });
  const running = started(join(bin, host.bin), host.args, {
    env: { ...env, ...host.env(model.url) },
    cwd: project,
    timeout: 180_000,
  });
  running.child.stdin.end();
  const { stdout, stderr } = await running.catch((error) => error);
  model.close();
  if (process.env.KEEP || !model.seen) console.log(stdout, stderr);
  if (!model.seen) throw new Error(`the file did not come back; ${model.offered.length} tools were offered`);
  return `${version}: called ${question.tool}, of ${model.offered.length} tools in its request`;
}

const chosen = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(hosts);
for (const name of chosen) {
  try {
    console.log(`ok    ${name} ${await tryHost(name)}`);
  } catch (error) {
    console.log(`FAIL  ${name} ${error.message}`);
    process.exitCode = 1;
  }
}
if (!process.env.KEEP) rmSync(work, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
