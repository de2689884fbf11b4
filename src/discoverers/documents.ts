import { choice, on, operand, option, required } from '../core/parameter.ts';
import { name, path, some } from '../core/params.ts';
import { action, program } from '../core/program.ts';

// Programs that make documents and drawings of texts.

const format = name('Format: gfm, html, docx, rst, latex, ipynb');
const pandoc = program('pandoc', {
  title: 'pandoc',
  category: 'other',
  site: 'https://pandoc.org/MANUAL.html',
  get: { apt: 'pandoc', brew: 'pandoc', winget: 'JohnMacFarlane.Pandoc' },
  actions: {
    read: action(
      'Read a document with pandoc',
      'A Word, HTML, EPUB or other document as Markdown or text.',
      ['read'],
      {
        // It then reads nothing that the document names.
        run: ['--sandbox', '--wrap=none'],
        dashes: false,
        params: {
          from: option('--from=', format),
          to: choice({ markdown: '--to=gfm', text: '--to=plain', json: '--to=json' }, 'As what'),
          path: operand(path('Document', 'file')),
        },
        given: { path: 'a.docx' },
      },
    ),
    convert: action(
      'Convert documents with pandoc',
      'Makes a document of others; its ending says what: html, docx, pdf, epub.',
      ['write', 'execute'],
      {
        run: ['--standalone'],
        dashes: false,
        params: {
          from: option('--from=', format),
          to: option('--to=', format),
          contents: on('--toc', 'With a table of contents'),
          output: required('--output=', path('New document', 'file', { written: true })),
          template: option('--template=', path('Template', 'file')),
          paths: operand(some(path('Document', 'file'), 'In this order')),
        },
        given: { paths: ['README.md'], output: 'README.html' },
      },
    ),
  },
});

const graphviz = program('graphviz', {
  title: 'Graphviz',
  category: 'other',
  site: 'https://graphviz.org/doc/info/command.html',
  get: { apt: 'graphviz', brew: 'graphviz', winget: 'Graphviz.Graphviz' },
  called: ['dot'],
  version: { args: ['-V'], pattern: /version (\d\S+)/ },
  project: ['*.dot', '*.gv'],
  actions: {
    render: action(
      'Draw a graph with Graphviz',
      'Makes a picture of a file in the language DOT.',
      ['write'],
      {
        run: ({ format: as, layout, output, path: it }) => [as, layout, output, it],
        params: {
          format: choice({ svg: '-Tsvg', png: '-Tpng', pdf: '-Tpdf' }, 'As what'),
          layout: choice(
            { dot: [], neato: '-Kneato', fdp: '-Kfdp', circo: '-Kcirco', twopi: '-Ktwopi' },
            'How it is laid out',
          ),
          output: required('-o', path('New picture', 'file', { written: true })),
          path: operand(path('Graph', 'file')),
        },
        given: { path: 'a.dot', output: 'a.svg' },
      },
    ),
    check: action(
      'Check a graph for Graphviz',
      'Reads a graph and writes it out in one form, or says what is wrong.',
      ['read'],
      {
        run: ['-Tcanon'],
        dashes: false,
        params: { path: operand(path('Graph', 'file')) },
        given: { path: 'a.dot' },
      },
    ),
  },
});

export default [pandoc, graphviz];
