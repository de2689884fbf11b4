import * as z from 'zod';
import { operand } from '../core/parameter.ts';
import { action, program } from '../core/program.ts';
import { entries } from './reports/kinds.ts';
import { lines } from './reports/readers.ts';

const host = z.string().regex(/^(?:[\w.-]+@)?[A-Za-z0-9_][\w.-]*$/, 'expected a host, or user@host');
// What a person wants to know of the hundred settings there are.
const asked =
  /^(?:host|hostname|user|port|identity.*|proxy.*|.*forward|userknownhostsfile|stricthostkeychecking)$/;
const setting = lines(/^(?<name>\w+) (?<says>.+)$/, ({ name = '', says }) => ({ name, says }));

export default program('ssh', {
  title: 'OpenSSH',
  category: 'other',
  site: 'https://man.openbsd.org/ssh',
  get: { apt: 'openssh-client', winget: 'Microsoft.OpenSSH.Preview' },
  version: { args: ['-V'], pattern: /OpenSSH_\w*?(\d+\.\d\w*)/ },
  actions: {
    config: action(
      'Show SSH settings of a host',
      'Address, user, keys and jumps that ssh would use.',
      ['read'],
      {
        run: ['-G'],
        params: { host: operand(host.describe('Host, or its name in the settings')) },
        given: { host: 'build-server' },
        out: entries('setting')((output) => setting(output).filter(({ name }) => asked.test(name))),
      },
    ),
  },
});
