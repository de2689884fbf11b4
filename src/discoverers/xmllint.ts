import { operand, option, required } from '../core/parameter.ts';
import { path, some, text } from '../core/params.ts';
import { action, program } from '../core/program.ts';
import { told } from '../core/report.ts';
import { gnu } from './reports/diagnostics.ts';
import { diagnostics } from './reports/kinds.ts';

const file = path('XML file', 'file');

export default program('xmllint', {
  title: 'xmllint',
  category: 'other',
  site: 'https://gnome.pages.gitlab.gnome.org/libxml2/xmllint.html',
  get: { apt: 'libxml2-utils', brew: 'libxml2' },
  version: { args: ['--version'], pattern: /version (\d+)/ },
  before: ['--nonet'],
  actions: {
    xpath: action(
      'Query XML with XPath',
      'Elements, attributes or counts of an XML file, by XPath.',
      ['read'],
      {
        run: [],
        dashes: false,
        params: {
          xpath: required('--xpath', text('XPath: //dependency/version/text()')),
          path: operand(file),
        },
        given: { xpath: '//version', path: 'pom.xml' },
        ok: [0, 10],
        out: told(({ stdout, exitCode }) => (exitCode === 10 ? 'nothing matches' : stdout)),
      },
    ),
    check: action('Check XML', 'Whether XML files are well formed, and valid by a schema.', ['read'], {
      run: ['--noout'],
      dashes: false,
      params: {
        schema: option('--schema', path('XML Schema', 'file')),
        paths: operand(some(file, 'XML files')),
      },
      given: { paths: ['pom.xml'] },
      ok: [0, 1, 3],
      out: diagnostics((output) => gnu(output).filter(({ message }) => !/^\s*\^?$/.test(message))),
    }),
    format: action('Format XML', 'Shows an XML file with indentation.', ['read'], {
      run: ['--format'],
      dashes: false,
      params: { path: operand(file) },
      given: { path: 'pom.xml' },
    }),
  },
});
