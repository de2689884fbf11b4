import * as z from 'zod';
import { choice, on, operand, option, required } from '../core/parameter.ts';
import { limit, list, path, some, text } from '../core/params.ts';
import { action, program } from '../core/program.ts';
import { told } from '../core/report.ts';
import { entries } from './reports/kinds.ts';
import { json } from './reports/readers.ts';

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
      'Tell kinds of files',
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

const count = (of: { code: number; comments: number; blanks: number; files: number }) =>
  `${of.code} code, ${of.comments} comments, ${of.blanks} blank in ${of.files} files`;
const folders = operand(list(path('File or folder'), 'Where; here when left out'));

const tokeiLanguage = z.object({
  blanks: z.int(),
  code: z.int(),
  comments: z.int(),
  reports: z.array(z.unknown()),
  children: z.record(z.string(), z.array(z.unknown())).default({}),
});
const tokei = program('tokei', {
  title: 'Tokei',
  category: 'other',
  site: 'https://github.com/XAMPPRocky/tokei',
  get: { brew: 'tokei', winget: 'XAMPPRocky.tokei', cargo: 'tokei' },
  actions: {
    count: action('Count code with Tokei', 'Lines of code, comments and blanks by language.', ['read'], {
      run: ['--output=json', '--sort=code'],
      params: { exclude: option('--exclude', list(text('Glob'), 'Not these')), paths: folders },
      given: { paths: ['src'] },
      out: entries('language')(
        json(z.object({ Total: tokeiLanguage }).catchall(tokeiLanguage), ({ Total, ...all }) => ({
          items: Object.entries(all)
            .sort(([, one], [, other]) => other.code - one.code)
            .map(([name, { reports, ...one }]) => ({ name, says: count({ ...one, files: reports.length }) })),
          more: `all: ${count({ ...Total, files: Object.values(Total.children).flat().length })}`,
        })),
      ),
    }),
  },
});

const clocLanguage = z.object({ nFiles: z.int(), blank: z.int(), comment: z.int(), code: z.int() });
const built = 'node_modules .git .venv vendor target dist build'.split(' ');
const cloc = program('cloc', {
  title: 'cloc',
  category: 'other',
  site: 'https://github.com/AlDanial/cloc',
  get: { apt: 'cloc', brew: 'cloc', winget: 'AlDanial.Cloc' },
  actions: {
    count: action('Count code with cloc', 'Lines of code, comments and blanks by language.', ['read'], {
      run: ['--json', '--quiet'],
      params: {
        exclude: required(
          '--exclude-dir=',
          z
            .array(
              z
                .string()
                .regex(/^[^,]+$/)
                .max(200),
            )
            .min(1)
            .max(100)
            .default(built)
            .describe('Names of folders to leave out'),
          (all) => all.join(','),
        ),
        paths: operand(some(path('File or folder'), 'Where').default(['.'])),
      },
      given: { paths: ['src'] },
      out: entries('language')(
        json(z.object({ header: z.unknown(), SUM: clocLanguage }).catchall(clocLanguage), (found) => {
          const { header: _, SUM, ...all } = found;
          const says = ({ nFiles, blank, comment, code }: typeof SUM) =>
            count({ files: nFiles, blanks: blank, comments: comment, code });
          const items = Object.entries(all).map(([name, one]) => ({ name, says: says(one) }));
          return { items, more: `all: ${says(SUM)}` };
        }),
      ),
    }),
  },
});

const stream = z.object({
  codec_type: z.string().default('data'),
  codec_name: z.string().default('?'),
  width: z.int().optional(),
  height: z.int().optional(),
  avg_frame_rate: z.string().optional(),
  sample_rate: z.string().optional(),
  channels: z.int().optional(),
  tags: z.object({ language: z.string().optional() }).default({}),
});
const media = z.object({
  format: z.object({
    format_name: z.string(),
    duration: z.string().optional(),
    size: z.string().optional(),
    bit_rate: z.string().optional(),
  }),
  streams: z.array(stream),
});
const ffprobe = program('ffprobe', {
  title: 'ffprobe',
  category: 'other',
  site: 'https://ffmpeg.org/ffprobe.html',
  get: { apt: 'ffmpeg', brew: 'ffmpeg', winget: 'Gyan.FFmpeg' },
  version: { args: ['-version'], pattern: /version (\S+)/ },
  actions: {
    media: action('Describe video and audio', 'Format, length and streams of a media file.', ['read'], {
      // A playlist may name addresses.
      run: [
        '-v',
        'error',
        '-protocol_whitelist',
        'file',
        '-print_format',
        'json',
        '-show_format',
        '-show_streams',
        '-i',
      ],
      dashes: false,
      params: { path: operand(path('Video or audio', 'file')) },
      given: { path: 'a.mp4' },
      out: told(
        json(media, ({ format, streams }) =>
          [
            `${format.format_name}, ${format.duration ?? '?'} s, ${format.size ?? '?'} bytes, ${format.bit_rate ?? '?'} bit/s`,
            ...streams.map((one) =>
              [
                `${one.codec_type} ${one.codec_name}`,
                one.width && `${one.width}x${one.height}`,
                one.codec_type === 'video' && `${one.avg_frame_rate} frames/s`,
                one.sample_rate && `${one.sample_rate} Hz, ${one.channels} channels`,
                one.tags.language,
              ]
                .filter(Boolean)
                .join(' '),
            ),
          ].join('\n'),
        ),
      ),
    }),
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
    image: action('Describe images', 'Format, size and depth of images.', ['execute'], {
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
      'Camera, place, author, size: what images and PDF have.',
      ['read'],
      {
        run: ['-json', '-G1'],
        params: { paths: files },
        given: { paths: ['a.jpg'] },
      },
    ),
    strip: action('Remove metadata of files', 'Takes camera, place and author out of images.', ['write'], {
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
