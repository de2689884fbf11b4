import { pathsOf, type FileFacts, type Host } from '../host.ts';

/**
 * Stand-ins of version managers, by the real path of what would be started, with `/` between folders. Each may
 * download a whole toolchain when it is called, so none is called without being asked.
 */
const byRealPath: readonly { readonly manager: string; readonly path: RegExp }[] = [
  { manager: 'rustup', path: /\/rustup(?:-init)?(?:\.exe)?$/i },
  { manager: 'corepack', path: /\/node_modules\/corepack\/(?:dist|shims)\// },
  { manager: 'mise', path: /\/mise\/shims\/|\/mise(?:\.exe)?$/i },
  { manager: 'asdf', path: /\/\.?asdf(?:-data)?\/shims\// },
  { manager: 'pyenv', path: /\/\.?pyenv(?:\/pyenv-win)?\/shims\//i },
  { manager: 'rbenv', path: /\/\.?rbenv\/shims\// },
  { manager: 'nodenv', path: /\/\.?nodenv\/shims\// },
  { manager: 'jenv', path: /\/\.?jenv\/shims\// },
  { manager: 'goenv', path: /\/\.?goenv\/shims\// },
  { manager: 'proto', path: /\/\.proto\/shims\/|\/proto-shim(?:\.exe)?$/i },
  {
    manager: 'volta',
    path: /\/volta-(?:shim|migrate)(?:\.exe)?$|\/\.?volta\/bin\/(?:node|npm|npx|yarn|pnpm)(?:\.exe)?$/i,
  },
  { manager: 'aqua', path: /\/aqua-proxy(?:\.exe)?$/i },
  { manager: 'Microsoft Store', path: /\/Microsoft\/WindowsApps\/python[\d.]*\.exe$/i },
];

/** The managers' own programs may be asked for their version like any other. */
const managers =
  /^(?:rustup|rustup-init|corepack|mise|asdf|pyenv|rbenv|nodenv|jenv|goenv|proto|volta|aqua)$/i;

/** The scripts in a shim folder that lies somewhere unusual call their manager by name. */
const byScript = /\b(asdf|mise|pyenv|rbenv|nodenv|jenv|goenv)"?\s+exec\b/;

/** The version manager whose stand-in a program is; undefined for a program of its own. */
export async function shimOf(program: string, facts: FileFacts, host: Host): Promise<string | undefined> {
  const { basename, dirname, join } = pathsOf(host);
  const name = basename(program).replace(/\.(?:exe|cmd|bat|com)$/i, '');
  if (managers.test(name)) return undefined;
  const real = await host.realPath(program);
  for (const path of new Set([real ?? program, program])) {
    const unified = path.replaceAll('\\', '/');
    const known = byRealPath.find((candidate) => candidate.path.test(unified));
    if (known) return known.manager;
  }
  const folder = dirname(program);
  if (/[\\/]shims$/.test(folder) && facts.size < 4096) {
    return byScript.exec((await host.head(program, 2048)) ?? '')?.[1];
  }
  if (/[\\/]bin$/.test(folder) && rustPrograms.test(name)) {
    // Where it makes no symbolic links, rustup is linked hard under each name: the same file in the same folder.
    const rustup = await host.stat(join(folder, host.platform === 'win32' ? 'rustup.exe' : 'rustup'));
    if (rustup?.size === facts.size) return 'rustup';
  }
  return undefined;
}

const rustPrograms =
  /^(?:cargo|rustc|rustdoc|rustfmt|clippy-driver|rust-analyzer|rust-gdb|rust-lldb|cargo-\w+)$/;
