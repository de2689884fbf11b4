import * as z from 'zod';
import { on, operand, option, required } from '../core/parameter.ts';
import { limit, list, path } from '../core/params.ts';
import { action, program } from '../core/program.ts';

// Requests that only ask, but to any address, this machine's own among them: so in folders that are trusted.

const url = z
  .url({ protocol: /^https?$/ })
  .max(8000)
  .regex(/^https?:\/\/\S+$/)
  .describe('Address: http://localhost:3000/health');
// HTTPie takes "a:=@file" and its like for a file to send.
const header = z
  .string()
  .max(8000)
  .regex(/^[\w!#$%&'*+.^`|~-]+: [^\s@][^\r\n]*$/, 'expected "Name: value"');
const headers = list(header, 'Headers: Accept: text/html');
const seconds = limit(600, 30).describe('How long at most, seconds');
const curlParams = {
  headers: option('--header', headers),
  follow: on('--location', 'Follow redirections'),
  insecure: on('--insecure', 'Any certificate'),
  seconds: required('--max-time', seconds),
};
const curlUrl = { url: required('--url', url) };

const curl = program('curl', {
  title: 'curl',
  category: 'other',
  site: 'https://curl.se/docs/manpage.html',
  get: { apt: 'curl', brew: 'curl', winget: 'cURL.cURL' },
  // Its settings could name files to write or to send.
  before: ['--disable', '--silent', '--show-error', '--globoff', '--proto', '=http,https'],
  actions: {
    get: action('Get a page with curl', 'HTTP GET of a URL or API: status, headers, body.', ['network'], {
      run: ['--include', '--compressed'],
      params: { ...curlParams, ...curlUrl },
      given: { url: 'http://localhost:3000/health' },
    }),
    head: action('Get headers with curl', 'HTTP HEAD: status and headers of a URL.', ['network'], {
      run: ['--head'],
      params: { ...curlParams, ...curlUrl },
      given: { url: 'http://localhost:3000/health' },
    }),
    download: action('Download with curl', 'Downloads a URL to a file.', ['write', 'network'], {
      run: ['--fail', '--location'],
      params: {
        headers: curlParams.headers,
        seconds: required('--max-time', limit(36_000, 600).describe('How long at most, seconds')),
        path: required('--output', path('New file', 'file', { written: true })),
        ...curlUrl,
      },
      given: { url: 'https://example.org/a.zip', path: 'a.zip' },
    }),
  },
});

const http = program('http', {
  title: 'HTTPie',
  category: 'other',
  site: 'https://httpie.io/docs/cli',
  get: { apt: 'httpie', brew: 'httpie', pip: 'httpie' },
  version: { args: ['--version'], pattern: /^(\d\S+)/ },
  before: ['--ignore-stdin', '--pretty=format', '--print=hb'],
  actions: {
    get: action('Get a page with HTTPie', 'HTTP GET of a URL or API, JSON formatted.', ['network'], {
      run: (at) => [at.follow, at.insecure, at.seconds, 'GET', at.url, at.headers],
      params: {
        follow: on('--follow', 'Follow redirections'),
        insecure: on('--verify=no', 'Any certificate'),
        seconds: required('--timeout=', seconds),
        url: operand(url),
        headers: operand(headers),
      },
      given: { url: 'http://localhost:3000/health' },
    }),
  },
});

export default [curl, http];
