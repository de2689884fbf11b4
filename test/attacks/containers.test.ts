import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ToolcribError } from '../../src/core/errors.ts';
import type { PermitRequest } from '../../src/core/tool.ts';
import { compose } from '../../src/discoverers/compose.ts';
import { docker } from '../../src/discoverers/docker.ts';
import { callAction, saidBy } from '../support/call-action.ts';
import { temporaryFolder } from '../support/repository.ts';

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
      `for one; do test "$one" = config && echo "$*" >> '${bin}/asked' && exec cat '${bin}/config.json'; done`,
      `for one; do echo "$one" >> '${bin}/ran'; done`,
    ].join('\n'),
  );
  chmodSync(program, 0o755);
  const read = (name: string) => (existsSync(join(bin, name)) ? readFileSync(join(bin, name), 'utf8') : '');
  const call = async (name: string, given: Record<string, unknown> = {}, says: 'yes' | 'no' = 'no') => {
    const requests: PermitRequest[] = [];
    const result = await callAction(compose, name, given, {
      folder,
      program,
      context: {
        permit(request) {
          requests.push(request);
          return request.asks === undefined || says === 'yes'
            ? Promise.resolve()
            : Promise.reject(new ToolcribError('NEEDS_CONFIRM', 'A person has to be asked.'));
        },
      },
    });
    return { said: saidBy(result), request: requests[0], ran: read('ran'), asked: read('asked') };
  };
  return { folder, call };
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
    const { handedOut } = await import('../../src/machine/handed-out.ts');
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
