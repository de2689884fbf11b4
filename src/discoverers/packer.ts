import * as z from 'zod';
import { on, operand, option } from '../core/parameter.ts';
import { list, name, path } from '../core/params.ts';
import { action, program } from '../core/program.ts';
import { reads, runs, writes } from './shared/effects.ts';

const params = {
  variables: option('-var=', list(z.string().regex(/^\w[\w-]*=/, 'expected name=value'), 'Variables')),
  var_file: option('-var-file=', path('File of variables', 'file')),
  only: option('-only=', list(name('Build'), 'Only these builds'), (all) => all.join(',')),
  template: operand(path('Template, or a folder of them').default('.')),
};

export default program('packer', {
  title: 'Packer',
  category: 'other',
  site: 'https://developer.hashicorp.com/packer/docs/commands',
  get: { apt: 'packer', brew: 'packer', winget: 'Hashicorp.Packer' },
  version: { args: ['version'], pattern: /v(\d\S*)/ },
  project: ['*.pkr.hcl', '*.pkr.json'],
  environment: ['AWS_PROFILE', 'AWS_REGION', 'PACKER_PLUGIN_PATH'],
  settings: { PACKER_NO_COLOR: '1', CHECKPOINT_DISABLE: '1' },
  hints: [
    { says: /packer init|plugin.*not found/i, wayOut: 'Its plugins are missing: packer_init gets them.' },
  ],
  actions: {
    validate: action('Validate a Packer template', 'Mistakes in a template.', runs, {
      run: ['validate'],
      dashes: false,
      params: { syntax: on('-syntax-only', 'Only whether it can be read'), ...params },
    }),
    format_check: action('Check the format of Packer files', 'What formatting would change.', reads, {
      run: ['fmt', '-check', '-diff', '.'],
      ok: [0, 3],
    }),
    format: action('Format Packer files', 'Formats files; names those it changed.', writes, {
      role: 'format',
      run: ['fmt', '.'],
    }),
    init: action('Get Packer plugins', 'Downloads the plugins that a template needs.', ['write', 'network'], {
      run: ['init'],
      dashes: false,
      params: { upgrade: on('-upgrade', 'To the newest allowed'), template: params.template },
    }),
    build: action(
      'Build a Packer image',
      'Makes machine images.',
      ['write', 'execute', 'network', 'publish'],
      {
        run: ['build', '-color=false'],
        dashes: false,
        params: { force: on('-force', 'Replace what an earlier build made'), ...params },
        first: ({ variables, var_file, only, template }) => ['validate', variables, var_file, only, template],
      },
    ),
  },
});
