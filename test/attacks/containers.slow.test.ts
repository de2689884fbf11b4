import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { ToolcribError } from '../../src/core/errors.ts';
import type { PermitRequest } from '../../src/core/tool.ts';
import { compose } from '../../src/discoverers/compose.ts';
import { docker } from '../../src/discoverers/docker.ts';
import { callAction, saidBy } from '../support/call-action.ts';
import { connectWithPerson, person } from '../support/person.ts';
import { temporaryFolder } from '../support/repository.ts';
import { eras, inherited } from '../support/server.ts';
import { textOf } from '../support/text-of.ts';

/**
 * A project whose compose file is read as `config`, and a docker that writes down what it was told; the text of
 * `complaint` is what it says about an option that it does not know.
 */
function project(config: unknown, complaint = '', folder = temporaryFolder()) {
  const bin = temporaryFolder();
  const program = join(bin, 'docker');
  writeFileSync(join(bin, 'config.json'), typeof config === 'string' ? config : JSON.stringify(config));
  writeFileSync(
    program,
    [
      '#!/bin/sh',
      `for one; do test "$one" = --no-env-resolution && test -n '${complaint}' && echo '${complaint}' >&2 && exit 16; done`,
      `for one; do test "$one" = config && echo "$COMPOSE_FILE" > '${bin}/file' && echo "$*" >> '${bin}/asked' && exec cat '${bin}/config.json'; done`,
      `for one; do echo "$one" >> '${bin}/ran'; done`,
    ].join('\n'),
  );
  chmodSync(program, 0o755);
  writeFileSync(join(folder, 'compose.yaml'), 'services: {}\n');
  const read = (name: string) => (existsSync(join(bin, name)) ? readFileSync(join(bin, name), 'utf8') : '');
  const call = async (
    name: string,
    given: Record<string, unknown> = {},
    says: 'yes' | 'no' | 'trusted' = 'no',
  ) => {
    const requests: PermitRequest[] = [];
    const result = await callAction(compose, name, given, {
      folder,
      program,
      context: {
        trusts: () => Promise.resolve(says === 'trusted'),
        permit(request) {
          requests.push(request);
          return request.asks === undefined || says === 'yes'
            ? Promise.resolve()
            : Promise.reject(new ToolcribError('NEEDS_CONFIRM', 'A person has to be asked.'));
        },
      },
    });
    return {
      said: saidBy(result),
      request: requests[0],
      ran: read('ran'),
      asked: read('asked'),
      file: read('file'),
    };
  };
  return { folder, bin, call, ran: () => read('ran') };
}

const service = (keys: Record<string, unknown>) => ({ services: { web: { image: 'x', ...keys } } });

/** Each of these hands out the machine, or something of it. */
const escapes: [what: string, config: unknown, names: RegExp][] = [
  ['the whole disk', service({ volumes: [{ type: 'bind', source: '/', target: '/host' }] }), /mounts: \/ /],
  [
    "docker's own socket",
    service({ volumes: [{ type: 'bind', source: '/var/run/docker.sock', target: '/s' }] }),
    /docker\.sock/,
  ],
  ['a pipe of Windows', service({ volumes: [{ type: 'npipe', source: '\\\\.\\pipe\\docker' }] }), /npipe/],
  ['privileges', service({ privileged: true }), /privileged/],
  ['all processes', service({ pid: 'host' }), /pid "host"/],
  ['the network', service({ network_mode: 'host' }), /network_mode "host"/],
  ['another container', service({ network_mode: 'container:db' }), /container:db/],
  ['shared memory', service({ ipc: 'host' }), /ipc/],
  ['its name', service({ uts: 'host' }), /uts/],
  ['its users', service({ userns_mode: 'host' }), /userns_mode/],
  ['its groups of processes', service({ cgroup: 'host' }), /cgroup/],
  ['capabilities', service({ cap_add: ['SYS_ADMIN'] }), /SYS_ADMIN/],
  ['devices', service({ devices: [{ source: '/dev/sda' }] }), /\/dev\/sda/],
  ['rules of devices', service({ device_cgroup_rules: ['a *:* rwm'] }), /device_cgroup_rules/],
  ['no confinement', service({ security_opt: ['no-new-privileges:true', 'seccomp:unconfined'] }), /seccomp/],
  ['another runtime', service({ runtime: 'evil' }), /runtime/],
  ["another container's volumes", service({ volumes_from: ['container:db'] }), /volumes_from/],
  ["docker's socket by another name", service({ use_api_socket: true }), /use_api_socket/],
  ['a program of the machine', service({ provider: { type: 'evil' } }), /provider/],
  ['a key that nobody knows yet', service({ host_everything: 'yes' }), /host_everything/],
  ['privileges after the start', service({ post_start: [{ command: 'x', privileged: true }] }), /post_start/],
  ['variables from elsewhere', service({ env_file: [{ path: '/etc/shadow' }] }), /\/etc\/shadow/],
  ['a build with everything', service({ build: { context: '/' } }), /copies from \(context\): \/ /],
  [
    'a build with something else besides',
    service({ build: { context: 'https://example.org/x.git', additional_contexts: { keys: '/root/.ssh' } } }),
    /\(keys\): \/root\/\.ssh/,
  ],
  ['keys of ssh', service({ build: { context: 'https://x', ssh: ['default'] } }), /ssh/],
  ['a privileged build', service({ build: { context: 'https://x', privileged: true } }), /privileged/],
  [
    'entitlements',
    service({ build: { context: 'https://x', entitlements: ['security.insecure'] } }),
    /entitle/,
  ],
  [
    'a cache elsewhere',
    service({ build: { context: 'https://x', cache_to: ['type=local,dest=/x'] } }),
    /dest=/,
  ],
  [
    'the disk as a volume',
    { volumes: { all: { driver_opts: { type: 'none', o: 'bind', device: '/etc' } } } },
    /volume all is: \/etc/,
  ],
  ['a driver of volumes', { volumes: { all: { driver: 'evil' } } }, /driver evil/],
  ['a secret from elsewhere', { secrets: { key: { file: '/etc/shadow' } } }, /secret key: \/etc\/shadow/],
  ['a setting from elsewhere', { configs: { a: { file: '/etc/passwd' } } }, /config a: \/etc\/passwd/],
  ['a network of the machine', { networks: { a: { driver: 'macvlan' } } }, /macvlan/],
  ['the network by its name', { networks: { a: { external: true, name: 'host' } } }, /the machine's own/],
];

it.each(escapes)(
  'ATTACK 41, 86, 87: a project that wants %s is asked about',
  async (_what, config, names) => {
    const { call } = project(config);
    for (const name of ['up', 'build']) {
      const { said, request, ran } = await call(name);
      expect(said).toMatch(/^NEEDS_CONFIRM/);
      expect(ran).toBe('');
      expect(request?.asks).toBe('destroy');
      expect(request?.shows?.map(({ text }) => text).join('\n')).toMatch(names);
    }
  },
);

it.each([
  ['a program of the machine', service({ provider: { type: './evil.sh' } }), /provider .*evil\.sh/],
  ['a program in a container', service({ pre_stop: [{ command: 'evil' }] }), /pre_stop .*evil/],
  ["another project's containers", { name: 'prod', services: {} }, /Compose project "prod"/],
])('ATTACK 87: stopping runs or reaches %s, which counts as running code', async (_what, config, names) => {
  for (const name of ['down', 'stop', 'restart', 'exec']) {
    const given = name === 'exec' ? { service: 'web', argv: ['id'] } : {};
    const { request, asked } = await project(config).call(name, given);
    expect(asked, name).toContain('config');
    expect(request?.effects, name).toContain('execute');
    expect(request?.shows?.map(({ text }) => text).join('\n'), name).toMatch(names);
  }
});

it('stops what is the project’s own without further ado, and says whose containers it acts on otherwise', async () => {
  const folder = join(temporaryFolder(), '_My.Shop');
  mkdirSync(folder);
  const own = await project({ name: 'myshop', services: { web: { image: 'x' } } }, '', folder).call('down');
  expect(own.request?.effects).toEqual(['write']);
  expect(own.ran).toContain('down\n');
  expect(own.said).not.toContain('acts on');
  const others = await project({ name: 'prod', services: {} }).call('up');
  expect(others.said).toContain('acts on the Compose project "prod"');
  expect(others.request).not.toHaveProperty('asks');
});

/** Each of these has Compose read, and quote, a file that is not of the project. */
const outside = '/etc/passwd';
const readers: [what: string, files: Record<string, string>][] = [
  ['an included file', { 'compose.yaml': `include: [${outside}]` }],
  ['included variables', { 'compose.yaml': `include: [{path: inc.yaml, env_file: ${outside}}]` }],
  ['more of them', { 'compose.yaml': `include:\n  - path: inc.yaml\n    env_file: [a.env, ${outside}]` }],
  [
    'variables of what is included',
    { 'compose.yaml': 'include: [sub/inc.yaml]', 'sub/inc.yaml': 'services: {a: {env_file: ../../x}}' },
  ],
  [
    'another folder for it',
    {
      'compose.yaml': 'include: [{path: inc.yaml, project_directory: /etc}]',
      'inc.yaml': 'services: {a: {env_file: passwd}}',
    },
  ],
  [
    'a service of another file',
    { 'compose.yaml': `services: {a: {extends: {file: ${outside}, service: b}}}` },
  ],
  ['variables', { 'compose.yaml': `services: {a: {env_file: ${outside}}}` }],
  [
    'variables that are optional',
    { 'compose.yaml': `services: {a: {env_file: [{path: ${outside}, required: false}]}}` },
  ],
  ['labels', { 'compose.yaml': `services: {a: {label_file: [${outside}]}}` }],
  ['what is merged in', { 'compose.yaml': `x: &x {env_file: ${outside}}\nservices: {a: {<<: *x}}` }],
  ['what stands elsewhere', { 'compose.yaml': `x: &x ${outside}\nservices: {a: {env_file: *x}}` }],
  ['a key that stands elsewhere', { 'compose.yaml': `x: &x env_file\nservices: {a: {*x : ${outside}}}` }],
  ['an include that is merged in', { 'compose.yaml': `x: &x\n  include: [${outside}]\n<<: *x` }],
  ['one that is partly merged in', { 'compose.yaml': `x: &x {path: ${outside}}\ninclude: [{<<: *x}]` }],
  ['a second document', { 'compose.yaml': `services: {}\n---\ninclude: [${outside}]` }],
  ['letters by number', { 'compose.yaml': `"incl\\u0075de": ["${outside}"]` }],
  ['a path in another form', { 'compose.yaml': 'services: {a: {env_file: !!binary L2V0Yy9wYXNzd2Q=}}' }],
  ['what a variable says', { 'compose.yaml': 'services: {a: {env_file: "${X:-/etc/passwd}"}}' }],
  ['a line that is none to others', { 'compose.yaml': `# \u2028include: [${outside}]\nservices: {}` }],
  ['another encoding', { 'compose.yaml': 'services: {}\0' }],
  ['an override', { 'compose.override.yaml': `include: [${outside}]` }],
  ['a file that .env names', { '.env': `A=b\nexport COMPOSE_FILE="compose.yaml:${outside}"` }],
];

it.each(readers)(
  'ATTACK 20: %s outside is not read before anybody has trusted the project',
  async (_what, files) => {
    const { folder, call } = project({ services: {} });
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(join(folder, dirname(name)), { recursive: true });
      writeFileSync(join(folder, name), text);
    }
    for (const name of ['services', 'ps', 'images', 'logs', 'stop', 'up']) {
      const { said, ran, asked } = await call(name);
      expect(said, name).toMatch(/^REPO_UNTRUSTED/);
      expect([ran, asked], name).toEqual(['', '']);
    }
    expect((await call('ps', {}, 'trusted')).ran).toContain('ps\n');
  },
);

it.each(['compose.yaml', '.env', 'inc.yaml', 'a.env'])(
  'ATTACK 20: nor is %s, where it is a link',
  async (name) => {
    const { folder, call } = project({ services: {} });
    const text = 'include: [{path: inc.yaml, env_file: a.env}]\nservices: {}\n';
    if (name !== 'compose.yaml') writeFileSync(join(folder, 'compose.yaml'), text);
    rmSync(join(folder, name), { force: true });
    symlinkSync(outside, join(folder, name));
    expect((await call('ps')).said).toMatch(/^REPO_UNTRUSTED/);
  },
);

it('reads a project of many files as Compose does, but none above the roots', async () => {
  const folder = temporaryFolder();
  const { call } = project({ services: {} }, '', folder);
  mkdirSync(join(folder, 'svc', 'deep'), { recursive: true });
  writeFileSync(join(folder, 'common.env'), 'A=b\n');
  writeFileSync(
    join(folder, 'compose.yaml'),
    [
      'x-base: &base\n  env_file: [common.env, missing.env]\n  restart: !reset null',
      'include: [svc/compose.yaml]',
      'services:\n  web:\n    <<: *base\n    extends: {file: svc/compose.yaml, service: a}',
      '    develop: {watch: [{path: /src, include: "*.ts", action: sync}]}',
      '    volumes: ["/:/host"]\n',
    ].join('\n'),
  );
  writeFileSync(join(folder, 'svc', 'compose.yaml'), 'services: {a: {image: x, env_file: ../common.env}}\n');
  writeFileSync(join(folder, 'compose.override.yml'), 'services: {}\n');
  const { said, ran, file } = await call('stop', { cwd: join(folder, 'svc', 'deep') });
  expect(ran, said).toContain('stop\n');
  expect(file.trim().split('\n')).toEqual([join(folder, 'svc', 'compose.yaml')]);
  const above = await call('stop');
  expect(above.file.trim().split('\n')).toEqual([
    join(folder, 'compose.yaml'),
    join(folder, 'compose.override.yml'),
  ]);
  rmSync(join(folder, 'svc', 'compose.yaml'));
  rmSync(join(folder, 'compose.yaml'));
  expect((await call('ps')).said).toMatch(/^PATH_NOT_FOUND/);
});

/** A project as most are. */
const ordinary = (folder: string) => ({
  name: 'shop',
  services: {
    web: {
      build: { context: folder, dockerfile: 'docker/Dockerfile', args: { A: '1' } },
      environment: { A: 'b' },
      env_file: [{ path: join(folder, '.env'), required: false }],
      ports: [{ published: '8080', target: 80 }],
      volumes: [
        { type: 'bind', source: folder, target: '/app', bind: { create_host_path: true } },
        { type: 'volume', source: 'data', target: '/data', volume: {} },
        { type: 'tmpfs', target: '/tmp' },
      ],
      privileged: false,
      cap_add: null,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
      network_mode: 'service:db',
      'x-note': { privileged: true },
    },
    db: { image: 'postgres:16', networks: { default: null }, command: null, entrypoint: null },
  },
  volumes: { data: { name: 'shop_data' } },
  networks: { default: { name: 'shop_default', ipam: {} } },
  secrets: { key: { file: join(folder, 'key') } },
});

it('does not ask about what wants nothing of the machine, and lies in the folders that are open', async () => {
  const folder = temporaryFolder();
  const { ran, request } = await project(ordinary(folder), '', folder).call('up');
  expect(ran).toContain('up\n');
  expect(request).not.toHaveProperty('asks');
  // The same project in another place: everything of it is outside.
  const elsewhere = await project(ordinary(folder)).call('up');
  expect(elsewhere.said).toMatch(/^NEEDS_CONFIRM/);
  expect(elsewhere.request?.shows?.at(-1)?.text.split('\n')).toHaveLength(5);
});

it('reads the project as Compose does, and then starts it', async () => {
  const config = service({ image: 'x', environment: { PASSWORD: 'hunter2' } });
  const { folder, call } = project(config);
  writeFileSync(join(folder, 'other.yaml'), '');
  const { asked, ran, request } = await call('up', { files: ['other.yaml'], services: ['web'] });
  const file = join(folder, 'other.yaml');
  expect(asked).toBe(`compose --file ${file} config --format json --no-env-resolution -- web\n`);
  expect(ran).toBe(['compose', '--file', file, 'up', '--detach', '--quiet-pull', '--', 'web', ''].join('\n'));
  expect(request).not.toHaveProperty('asks');
  expect(JSON.stringify(request)).not.toContain('hunter2');
});

it('asks an older Compose without the option it does not know', async () => {
  const { call } = project(service({ privileged: true }), 'unknown flag: --no-env-resolution');
  const { asked, said } = await call('up');
  expect(asked).toBe('compose config --format json --\n');
  expect(said).toMatch(/^NEEDS_CONFIRM/);
});

it('starts what a person has said yes to, and remembers no more than that', async () => {
  const { call } = project(service({ privileged: true }));
  const { ran, request } = await call('up', {}, 'yes');
  expect(ran).toContain('up\n');
  expect(request?.always?.key).toContain('privileged');
  const more = await project(service({ privileged: true, pid: 'host' })).call('up', {}, 'yes');
  expect(more.request?.always?.key).not.toBe(request?.always?.key);
});

it('ATTACK 86: a link in the project does not make the rest of the machine a part of it', async () => {
  const { folder } = project('');
  symlinkSync('/', join(folder, 'all'));
  mkdirSync(join(folder, '.git', 'hooks'), { recursive: true });
  for (const [path, why] of [
    [join(folder, 'all'), /outside/],
    [join(folder, '.git', 'hooks'), /\(.+\)/],
    ['relative', /cannot be told/],
  ] as const) {
    const { handedOut } = await import('../../src/machine/actions/handed-out.ts');
    const { openWorkspace } = await import('../../src/machine/paths/workspace.ts');
    const told = await handedOut([{ path, says: 'mounts' }], await openWorkspace([folder]));
    expect(told[0]).toMatch(why);
  }
});

it('starts nothing when what Compose says is not understood', async () => {
  for (const config of ['', '[]', '{"services": {"web": "x"}}', '{"services": {"web": {"volumes": [1]}}}']) {
    const { said, ran } = await project(config).call('up');
    expect(said).toMatch(/^OUTPUT_UNREADABLE/);
    expect(ran).toBe('');
  }
});

it.each([
  ['build', { context: '/' }],
  ['build', { context: '../..' }],
  ['build', { dockerfile: '/etc/passwd' }],
  ['build', { context: '~/.ssh' }],
])('ATTACK 89: docker %s %j does not leave the roots', async (name, given) => {
  const folder = temporaryFolder();
  const marker = join(folder, 'ran');
  const program = join(temporaryFolder(), 'docker');
  writeFileSync(program, `#!/bin/sh\ntouch '${marker}'\n`);
  chmodSync(program, 0o755);
  expect(saidBy(await callAction(docker, name, given, { folder, program }))).toMatch(
    /^PATH_(?:OUTSIDE_ROOTS|NOT_FOUND|PROTECTED)/,
  );
  expect(existsSync(marker)).toBe(false);
});

it('ATTACK 89: no parameter chooses a daemon, its settings, or copies files', () => {
  for (const { actions } of [docker, compose]) {
    for (const [name, action] of Object.entries(actions)) {
      expect(name).not.toMatch(/^(?:cp|run|create|context|config)$/);
      expect(Object.keys(action.params).join(' ')).not.toMatch(
        /host|daemon|config|env|privileged|volume|mount/,
      );
    }
  }
});

it.each(eras)('ATTACK 87: a person is asked before a provider is run to stop a service (%s)', async (era) => {
  const { folder, bin, ran } = project({
    name: 'prod',
    services: { web: { provider: { type: './evil.sh' } } },
  });
  const answer = person('no', 'yes');
  const env = { ...inherited(), PATH: `${bin}:${process.env['PATH']}`, XDG_STATE_HOME: temporaryFolder() };
  const client = await connectWithPerson(era, answer, { roots: [folder], env });
  onTestFinished(() => client.close());
  const refused = await client.callTool({ name: 'compose_down', arguments: {} });
  expect(textOf(refused)).toMatch(/^NOT_CONFIRMED/);
  expect(ran()).not.toContain('down');
  expect(answer.asked[0]?.message).toMatch(/evil\.sh/);
  expect(answer.asked[0]?.message).toMatch(/Compose project "prod"/);
  await client.callTool({ name: 'compose_down', arguments: {} });
  expect(ran()).toContain('down');
  const denied = await connectWithPerson(era, answer, { roots: [folder], env, args: ['--deny', 'execute'] });
  onTestFinished(() => denied.close());
  expect((await denied.callTool({ name: 'compose_down', arguments: {} })).isError).toBe(true);
});
