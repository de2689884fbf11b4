import { choice, on, operand, required } from '../core/parameter.ts';
import { name, path, some, text } from '../core/params.ts';
import { action, program } from '../core/program.ts';
import { entries } from './reports/kinds.ts';
import { lines } from './reports/readers.ts';

const file = operand(path('Program, library or object', 'file'));
const binutils = { apt: 'binutils', brew: 'binutils' };

const objdump = program('objdump', {
  title: 'objdump',
  category: 'other',
  site: 'https://sourceware.org/binutils/docs/binutils/objdump.html',
  get: binutils,
  called: ['objdump', 'llvm-objdump', 'gobjdump'],
  marks: '-@',
  actions: {
    headers: action('Show what a binary needs', 'Its kind, start, segments, needed libraries.', ['read'], {
      run: ['-f', '-p'],
      params: { file },
      given: { file: 'app' },
    }),
    sections: action('List sections of a binary', 'Sections with their sizes and addresses.', ['read'], {
      run: ['-h', '-w'],
      params: { file },
      given: { file: 'app' },
    }),
    disassemble: action('Disassemble a binary', 'Instructions of one function, or of all.', ['read'], {
      run: ['-C', '--no-show-raw-insn'],
      params: {
        source: on('--line-numbers', 'With places in the sources'),
        of: required('--disassemble', text('Only this function').default('')),
        file,
      },
      given: { of: 'main', file: 'app' },
    }),
  },
});

const nm = program('nm', {
  title: 'nm',
  category: 'other',
  site: 'https://sourceware.org/binutils/docs/binutils/nm.html',
  get: binutils,
  called: ['nm', 'llvm-nm'],
  marks: '-@',
  actions: {
    symbols: action('List symbols of a binary', 'Names it defines or needs, with kind and size.', ['read'], {
      run: ['-P', '-C'],
      params: {
        which: choice(
          { all: [], defined: '--defined-only', needed: '-u', exported: '-g', dynamic: '-D' },
          'Which ones',
        ),
        by_size: on('--size-sort', 'Those with a size, by it'),
        file,
      },
      given: { which: 'defined', file: 'app' },
      out: entries('symbol')(
        lines(
          /^(?<name>.+) (?<kind>[A-Za-z?-])(?: +(?<at>[\da-f]*))?(?: +(?<size>[\da-f]*))? *$|:$/,
          ({ name: symbol, kind, size }) =>
            symbol ? { name: symbol, says: size ? `${kind} ${parseInt(size, 16)} bytes` : kind } : undefined,
        ),
      ),
    }),
  },
});

const packages = operand(some(name('Package'), 'Packages'));
const pkgConfig = program('pkg_config', {
  title: 'pkg-config',
  category: 'build',
  site: 'https://www.freedesktop.org/wiki/Software/pkg-config',
  get: { apt: 'pkg-config', brew: 'pkgconf' },
  called: ['pkg-config', 'pkgconf'],
  environment: ['PKG_CONFIG_PATH', 'PKG_CONFIG_LIBDIR', 'PKG_CONFIG_SYSROOT_DIR'],
  actions: {
    flags: action('Show flags of C libraries', 'What compiler and linker need to use them.', ['read'], {
      run: ['--print-errors', '--cflags', '--libs'],
      params: { static: on('--static', 'For linking them in'), packages },
      given: { packages: ['zlib'] },
    }),
    list: action('List C libraries of pkg-config', 'Libraries that are known here.', ['read'], {
      run: ['--list-all'],
      out: entries('library')(
        lines(/^(?<name>\S+) +(?<says>.*)$/, ({ name: library = '', says }) => ({ name: library, says })),
      ),
    }),
    version: action('Show versions of C libraries', 'Their versions, a line each.', ['read'], {
      run: ['--print-errors', '--modversion'],
      params: { packages },
      given: { packages: ['zlib'] },
    }),
  },
});

export default [objdump, nm, pkgConfig];
