import { action, family, glue, name, on, required } from '../../core/grammar.ts';
import { packages } from '../reports/kinds.ts';
import { lines } from '../reports/readers.ts';
import { compares, display, goesTo, opens } from './places.ts';
import { makes, reads } from '../shared/programs.ts';

/** Title, page, name for winget, name on macOS, folder on Windows. */
const codes = {
  code: [
    ...['VS Code', 'https://code.visualstudio.com/docs/configure/command-line'],
    ...['Microsoft.VisualStudioCode', 'Visual Studio Code', 'Microsoft VS Code'],
  ],
  cursor: ['Cursor', 'https://cursor.com/docs', 'Anysphere.Cursor', 'Cursor', 'cursor/resources/app'],
  windsurf: ['Windsurf', 'https://docs.windsurf.com', 'Codeium.Windsurf', 'Windsurf', 'Windsurf'],
  codium: ['VSCodium', 'https://vscodium.com', 'VSCodium.VSCodium', 'VSCodium', 'VSCodium'],
};
const here = '--reuse-window';

const vscodes = family(codes, ([title = '', site = '', winget = '', mac = '', windows], id) => ({
  title,
  category: 'editor',
  site,
  get: { brew: `--cask ${mac.toLowerCase().replaceAll(' ', '-')}`, winget },
  project: ['.vscode', '*.code-workspace'],
  environment: [...display, 'VSCODE_IPC_HOOK_CLI'],
  elsewhere: {
    darwin: [`/Applications/${mac}.app/Contents/Resources/app/bin/${id}`],
    win32: ['%LOCALAPPDATA%/Programs', '%ProgramFiles%'].map((at) => `${at}/${windows}/bin/${id}.cmd`),
  },
  actions: {
    open: opens(`Open in ${title}`, 'Opens a file or folder in the window there is.', (at) => [
      here,
      at.path,
    ]),
    open_new_window: opens(`Open a new ${title} window`, 'Opens a file or folder in a new window.', (at) => [
      '--new-window',
      at.path,
    ]),
    goto: goesTo(`Go to a line in ${title}`, (at) => [
      here,
      '--goto',
      glue(at.file, ':', at.line, ':', at.column),
    ]),
    diff: compares(`Compare files in ${title}`, ({ left, right }) => [here, '--diff', left, right]),
    list_extensions: action(`List ${title} extensions`, 'Installed extensions with versions.', reads, {
      run: ['--list-extensions', '--show-versions'],
      out: packages(
        lines(/^(?<name>[\w-]+\.[\w.-]+)@(?<version>\S+)$/, (one) => ({ ...one, name: one['name'] ?? '' })),
      ),
    }),
    install_extension: action(`Install a ${title} extension`, 'Installs one of the marketplace.', makes, {
      run: [],
      params: {
        force: on('--force', 'The newest, where one is installed'),
        extension: required('--install-extension', name('publisher.name')),
      },
      given: { extension: 'vitest.explorer' },
    }),
  },
}));

const ides = {
  idea: ['IntelliJ IDEA', 'JetBrains.IntelliJIDEA.Ultimate'],
  pycharm: ['PyCharm', 'JetBrains.PyCharm.Professional'],
  webstorm: ['WebStorm', 'JetBrains.WebStorm'],
  goland: ['GoLand', 'JetBrains.GoLand'],
  clion: ['CLion', 'JetBrains.CLion'],
  phpstorm: ['PhpStorm', 'JetBrains.PHPStorm'],
  rubymine: ['RubyMine', 'JetBrains.RubyMine'],
  rider: ['Rider', 'JetBrains.Rider'],
  rustrover: ['RustRover', 'JetBrains.RustRover'],
} as const;

const jetbrains = family(ides, ([title, winget], id) => ({
  title,
  category: 'editor',
  site: 'https://www.jetbrains.com/help/idea/working-with-the-ide-features-from-command-line.html',
  get: { brew: `--cask ${title.toLowerCase().replaceAll(' ', '-')}`, winget },
  called: [id, `${id}64`],
  project: ['.idea'],
  // Some answer by opening a window.
  version: 'unknown',
  environment: display,
  elsewhere: {
    linux: [`~/.local/share/JetBrains/Toolbox/scripts/${id}`, `/opt/*/bin/${id}.sh`],
    darwin: [
      `~/Library/Application Support/JetBrains/Toolbox/scripts/${id}`,
      `/Applications/${title}.app/Contents/MacOS/${id}`,
    ],
    win32: [
      `%LOCALAPPDATA%/JetBrains/Toolbox/scripts/${id}.cmd`,
      `%LOCALAPPDATA%/Programs/${title}/bin/${id}64.exe`,
      `%ProgramFiles%/JetBrains/*/bin/${id}64.exe`,
    ],
  },
  actions: {
    open: opens(`Open in ${title}`, 'Opens a project, folder or file in a window.', (at) => [at.path]),
    goto: goesTo(`Go to a line in ${title}`, (at) => ['--line', at.line, '--column', at.column, at.file]),
    diff: compares(`Compare files in ${title}`, ({ left, right }) => ['diff', left, right]),
  },
}));

export default [...vscodes, ...jetbrains];
