import { action, family, present, type Program, type Template } from '../core/grammar.ts';
import { display, file, folder, merged } from './editors/places.ts';
import { reads, writes } from './shared/programs.ts';

interface DiffToolRow extends Pick<
  Program,
  'title' | 'site' | 'get' | 'called' | 'on' | 'elsewhere' | 'version'
> {
  /** Words before two files. */
  readonly two?: readonly string[];
  /** Words before two folders, where it compares them. */
  readonly folders?: readonly string[];
  readonly merge: Template<typeof merged>;
}

const windows = (...places: string[]) => ({ win32: places.map((place) => `%ProgramFiles%/${place}`) });
const rows: Readonly<Record<string, DiffToolRow>> = {
  bcompare: {
    title: 'Beyond Compare',
    site: 'https://www.scootersoftware.com/v5help/command_line_reference.html',
    get: { brew: '--cask beyond-compare', winget: 'ScooterSoftware.BeyondCompare.5' },
    elsewhere: {
      darwin: ['/Applications/Beyond Compare.app/Contents/MacOS/bcomp'],
      ...windows('Beyond Compare 5/BCompare.exe', 'Beyond Compare 4/BCompare.exe'),
    },
    folders: [],
    merge: ({ left, right, base, output }) => [left, right, base, output],
  },
  meld: {
    title: 'Meld',
    site: 'https://meldmerge.org/help/',
    get: { apt: 'meld', brew: '--cask meld', winget: 'Meld.Meld' },
    version: { args: ['--version'], pattern: /meld (\d\S+)/ },
    elsewhere: windows('Meld/Meld.exe'),
    folders: [],
    merge: ({ left, right, base, output }) => ['--output', output, left, base, right],
  },
  winmerge: {
    title: 'WinMerge',
    site: 'https://manual.winmerge.org/en/Command_line.html',
    get: { winget: 'WinMerge.WinMerge' },
    on: ['win32'],
    called: ['WinMergeU'],
    elsewhere: windows('WinMerge/WinMergeU.exe'),
    two: ['/u', '/e'],
    folders: ['/u', '/r'],
    merge: ({ left, right, base, output }) => ['/u', '/o', output, left, base, right],
  },
};

/**
 * Programs in which a person looks at differences, and merges. They read what they are given, and run
 * nothing.
 */
export default family(rows, ({ two = [], folders, merge, ...row }) => ({
  ...row,
  category: 'editor',
  // Most open a window when they are asked.
  version: row.version ?? 'unknown',
  environment: display,
  actions: present({
    diff: action(`Compare files in ${row.title}`, 'Shows two files side by side in a window.', reads, {
      stays: 'window',
      run: two,
      dashes: false,
      params: { left: file('One file'), right: file('The other') },
      given: { left: 'a.txt', right: 'b.txt' },
    }),
    folder_sync:
      folders &&
      action(`Compare folders in ${row.title}`, 'Shows two folders; a person copies between them.', writes, {
        stays: 'window',
        run: folders,
        dashes: false,
        params: { left: folder('One folder'), right: folder('The other') },
        given: { left: 'old', right: 'new' },
      }),
    merge: action(`Merge files in ${row.title}`, 'A person merges two versions of a file.', writes, {
      stays: 'window',
      run: merge,
      params: merged,
      given: { left: 'a.txt', right: 'b.txt', base: 'o.txt', output: 'c.txt' },
    }),
  }),
}));
