import * as z from 'zod';
import { glue } from '../core/command-line.ts';
import { choice, operand } from '../core/parameter.ts';
import { path, some } from '../core/params.ts';
import { action, program } from '../core/program.ts';
import { told } from '../core/report.ts';

const host = z.string().regex(/^[A-Za-z0-9](?:[\w.-]{0,251}[A-Za-z0-9])?$/, 'expected the name of a host');

export default program('openssl', {
  title: 'OpenSSL',
  category: 'other',
  site: 'https://docs.openssl.org/master/man1/',
  get: { apt: 'openssl', brew: 'openssl', winget: 'ShiningLight.OpenSSL.Light' },
  version: { args: ['version'], pattern: /SSL (\S+)/ },
  actions: {
    certificate: action(
      'Show a certificate',
      'When a TLS certificate expires, its names, issuer, fingerprint.',
      ['read'],
      {
        run: ({ path: it }) => [
          ...[
            'x509',
            '-in',
            it,
            '-noout',
            '-subject',
            '-issuer',
            '-serial',
            '-dates',
            '-fingerprint',
            '-sha256',
          ],
          ...['-ext', 'subjectAltName,keyUsage,extendedKeyUsage,basicConstraints'],
        ],
        params: { path: operand(path('Certificate', 'file')) },
        given: { path: 'cert.pem' },
      },
    ),
    server_certificate: action(
      "Show a server's certificates",
      'The TLS chain of a host: issuers, when it expires, whether it is trusted.',
      ['network'],
      {
        run: ({ host: at, port, protocol }) => [
          ...['s_client', '-connect', glue(at, ':', port), '-servername', at, '-no_ign_eof'],
          protocol,
        ],
        params: {
          host: operand(host.describe('Host')),
          port: operand(z.int().min(1).max(65_535).default(443).describe('Port')),
          protocol: choice(
            {
              tls: [],
              smtp: ['-starttls', 'smtp'],
              imap: ['-starttls', 'imap'],
              postgres: ['-starttls', 'postgres'],
            },
            'What is spoken before TLS',
          ),
        },
        given: { host: 'example.org' },
        ok: [0, 1],
        out: told(({ stdout }) => {
          const [chain] = /^Certificate chain\n[^]*?(?=\n---)/m.exec(stdout) ?? [];
          if (chain === undefined) throw new Error('no chain');
          const facts = stdout.match(/^\s*(?:New, |Verif\w+[^:\n]*:).*$/gm) ?? [];
          return [chain, ...new Set(facts.map((fact) => fact.trim()))].join('\n');
        }),
      },
    ),
    digest: action('Digest of a file', 'Checksum or hash of files: SHA-256, MD5 and others.', ['read'], {
      run: ({ digest, paths }) => ['dgst', digest, '-r', paths],
      params: {
        digest: choice(
          {
            sha256: '-sha256',
            sha512: '-sha512',
            sha1: '-sha1',
            sha3: '-sha3-256',
            blake2: '-blake2b512',
            md5: '-md5',
          },
          'Which',
        ),
        paths: operand(some(path('File', 'file'), 'Files')),
      },
      given: { paths: ['a.zip'] },
    }),
  },
});
