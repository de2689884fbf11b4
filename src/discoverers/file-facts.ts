import * as z from 'zod';
import { choice, on, operand, option, required } from '../core/parameter.ts';
import { limit, list, name, path, some, text } from '../core/params.ts';
import { action, program } from '../core/program.ts';

// Programs that say what files are, and change none.

const files = operand(some(path('File', 'file'), 'Files'));

const file = program('file', {
  title: 'file',
  category: 'other',
  site: 'https://www.darwinsys.com/file/',
  get: { apt: 'file', brew: 'libmagic' },
  version: { args: ['--version'], pattern: /file-(\S+)/ },
  actions: {
    kind: action(
      'Tell the type of files',
      'What files are by what they hold: encoding, format, architecture.',
      ['read'],
      {
        run: ['-E'],
        params: { mime: on('--mime', 'As media type and encoding'), paths: files },
        given: { paths: ['a.bin'] },
      },
    ),
  },
});

const tree = program('tree', {
  title: 'tree',
  category: 'other',
  site: 'https://oldmanprogrammer.net/source.php?dir=projects/tree',
  get: { apt: 'tree', brew: 'tree' },
  version: { args: ['--version'], pattern: /v(\d\S+)/ },
  actions: {
    show: action('Show folders with tree', 'Folders and files as a tree, with counts.', ['read'], {
      run: ['-F', '--charset=utf-8', '--gitignore', '--dirsfirst'],
      params: {
        depth: required('-L', limit(20, 2)),
        hidden: on('-a', 'Hidden ones too'),
        folders: on('-d', 'Folders only'),
        sizes: on(['-h', '--du'], 'With sizes'),
        ignore: option('-I', text('Not these: *.o|tmp')),
        path: operand(path('Folder; here when left out', 'folder').optional()),
      },
      given: { path: 'src', depth: 3 },
    }),
  },
});

const folders = operand(list(path('File or folder'), 'Where').default(['.']));
const tokei = program('tokei', {
  title: 'Tokei',
  category: 'other',
  site: 'https://github.com/XAMPPRocky/tokei',
  get: { brew: 'tokei', winget: 'XAMPPRocky.tokei', cargo: 'tokei' },
  actions: {
    count: action('Count code with Tokei', 'Lines of code, comments and blanks by language.', ['read'], {
      run: ['--sort=code'],
      params: { exclude: option('--exclude', list(text('Glob'), 'Not these')), paths: folders },
      given: { paths: ['src'] },
    }),
  },
});

const built = 'node_modules .git .venv vendor target dist build'.split(' ');
const cloc = program('cloc', {
  title: 'cloc',
  category: 'other',
  site: 'https://github.com/AlDanial/cloc',
  get: { apt: 'cloc', brew: 'cloc', winget: 'AlDanial.Cloc' },
  actions: {
    count: action('Count code with cloc', 'Lines of code, comments and blanks by language.', ['read'], {
      run: ['--quiet', '--hide-rate'],
      params: {
        exclude: required(
          '--exclude-dir=',
          list(name('Name'), 'Folders to leave out').default(built),
          (all) => all.join(','),
        ),
        paths: folders,
      },
      given: { paths: ['src'] },
    }),
  },
});

const streamFacts = 'codec_type,codec_name,width,height,avg_frame_rate,sample_rate,channels';
const facts = `format=format_name,duration,size,bit_rate:stream=${streamFacts}`;
const ffprobe = program('ffprobe', {
  title: 'ffprobe',
  category: 'other',
  site: 'https://ffmpeg.org/ffprobe.html',
  get: { apt: 'ffmpeg', brew: 'ffmpeg', winget: 'Gyan.FFmpeg' },
  version: { args: ['-version'], pattern: /version (\S+)/ },
  // A playlist may name addresses.
  before: ['-v', 'error', '-protocol_whitelist', 'file'],
  actions: {
    media: action(
      'Describe video and audio',
      'Duration, codecs, resolution and streams of a media file.',
      ['read'],
      {
        run: ['-of', 'compact', '-show_entries', facts, '-i'],
        dashes: false,
        params: { path: operand(path('Video or audio', 'file')) },
        given: { path: 'a.mp4' },
      },
    ),
  },
});

const identify = program('identify', {
  title: 'ImageMagick identify',
  category: 'other',
  site: 'https://imagemagick.org/script/identify.php',
  get: { apt: 'imagemagick', brew: 'imagemagick', winget: 'ImageMagick.ImageMagick' },
  called: ['identify', 'magick identify'],
  version: { args: ['-version'], pattern: /ImageMagick (\S+)/ },
  actions: {
    // Some formats are scripts, or are read by other programs.
    image: action('Describe images', 'Format, width, height and depth of images.', ['execute'], {
      run: ['-ping', '-format', '%i: %m %wx%h %z-bit %r %B bytes\\n'],
      dashes: false,
      params: { paths: files },
      given: { paths: ['a.png'] },
    }),
  },
});

const exiftool = program('exiftool', {
  title: 'ExifTool',
  category: 'other',
  site: 'https://exiftool.org/exiftool_pod.html',
  get: { apt: 'libimage-exiftool-perl', brew: 'exiftool', winget: 'OliverBetz.ExifTool' },
  version: { args: ['-ver'], pattern: /(\d+\.\d+)/ },
  // Its settings are code.
  before: ['-config', ''],
  actions: {
    metadata: action(
      'Show metadata of files',
      'EXIF, GPS, camera, author, size: what images and PDF hold.',
      ['read'],
      {
        run: ['-json', '-G1'],
        params: { paths: files },
        given: { paths: ['a.jpg'] },
      },
    ),
    strip: action('Remove metadata of files', 'Takes EXIF, GPS and author out of images.', ['write'], {
      run: ['-all=', '-overwrite_original'],
      params: { paths: operand(some(path('File', 'file', { written: true }), 'Files')) },
      given: { paths: ['a.jpg'] },
    }),
  },
});

const page = (says: string) => z.int().min(1).max(100_000).describe(says);
const pdftotext = program('pdftotext', {
  title: 'pdftotext',
  category: 'other',
  site: 'https://poppler.freedesktop.org/',
  get: { apt: 'poppler-utils', brew: 'poppler', winget: 'oschwartz10612.Poppler' },
  version: { args: ['-v'], pattern: /version (\d\S+)/ },
  actions: {
    read: action('Read the text of a PDF', 'Text of a PDF, or of some of its pages.', ['read'], {
      run: ({ layout, from, to, path: it }) => ['-enc', 'UTF-8', layout, from, to, it, '-'],
      params: {
        layout: choice({ page: '-layout', reading: [] }, 'As on the page, or in reading order'),
        from: option('-f', page('First page')),
        to: option('-l', page('Last page')),
        path: operand(path('PDF', 'file')),
      },
      given: { path: 'a.pdf', to: 3 },
    }),
  },
});

export default [file, tree, tokei, cloc, ffprobe, identify, exiftool, pdftotext];
