import * as z from 'zod';
import { choice, operand, option, words } from '../core/parameter.ts';
import { limit, text } from '../core/params.ts';
import { action, program, type ProgramAction } from '../core/program.ts';
import { told } from '../core/report.ts';
import { entries } from './reports/kinds.ts';
import { json } from './reports/readers.ts';
import { asks } from './shared/effects.ts';

// On this machine only: which other server would be asked, and as whom, is not a model's to say.
const server = {
  port: option('-p', z.int().min(1).max(65_535).describe('Port of this machine; 6379')),
  database: option('-n', z.int().min(0).max(1000).describe('Number of the database; 0')),
};
const key = operand(text('Key'));
const given = { key: 'cart:7' };

/** What a key of one type holds. */
const value = (of: string, command: string, ...behind: string[]): ProgramAction =>
  action(`Show a Redis ${of}`, `What a key holds that is a ${of}.`, asks, {
    run: ({ port, database, key: which }) => [port, database, '--json', command, which, ...behind],
    params: { ...server, key },
    given,
  });
const sections = ['server', 'memory', 'clients', 'stats', 'replication', 'persistence', 'keyspace'];

export default program('redis', {
  title: 'Redis',
  category: 'database',
  site: 'https://redis.io/docs/latest/develop/tools/cli',
  get: {
    apt: 'redis-tools',
    brew: 'redis',
    site: 'https://redis.io/docs/latest/operate/oss_and_stack/install',
  },
  called: ['redis-cli', 'valkey-cli'],
  project: ['redis.conf', 'dump.rdb'],
  environment: ['REDISCLI_AUTH'],
  // An error is an exit code.
  before: ['-e'],
  hints: [
    { says: /Connection refused/, wayOut: 'No Redis listens there: start it, or give its port.' },
    { says: /NOAUTH|WRONGPASS/, wayOut: 'The password comes from the variable REDISCLI_AUTH of the server.' },
    { says: /WRONGTYPE/, wayOut: 'redis_describe tells the type of a key.' },
  ],
  actions: {
    keys: action('List Redis keys', 'Keys that match a pattern, a part at a time.', asks, {
      run: ({ port, database, cursor, pattern, limit: most }) => [
        ...[port, database, '--json', 'SCAN', cursor, 'MATCH', pattern, 'COUNT', most],
      ],
      params: {
        ...server,
        pattern: operand(z.string().min(1).max(500).default('*').describe('Pattern: cart:*')),
        limit: operand(limit(10_000, 1000)),
        cursor: operand(
          z
            .string()
            .regex(/^\d{1,20}$/)
            .default('0')
            .describe('Where the part before ended'),
        ),
      },
      out: entries('key')(
        json(z.tuple([z.coerce.string(), z.array(z.string())]), ([next, names]) => ({
          items: names.map((name) => ({ name })),
          more: next === '0' ? undefined : `there are more: cursor=${next}`,
        })),
      ),
    }),
    describe: action('Describe a Redis key', 'Type, time to live and size of a key.', asks, {
      run: ({ port, database, key: which }) => [port, database, 'TYPE', which],
      params: { ...server, key },
      given,
      after: {
        ttl: ({ port, database, key: which }) => [port, database, 'TTL', which],
        bytes: ({ port, database, key: which }) => [port, database, 'MEMORY', 'USAGE', which],
      },
      out: told(({ stdout, after }) => {
        if (!/^\w+$/.test(stdout.trim())) throw new Error('expected a type');
        if (stdout.trim() === 'none') return 'There is no such key.';
        const [ttl = '', bytes = ''] = [after['ttl']?.trim(), after['bytes']?.trim()];
        return `${stdout.trim()}, ${bytes} bytes, ${Number(ttl) < 0 ? 'does not expire' : `expires in ${ttl} s`}`;
      }),
    }),
    get: value('text', 'GET'),
    get_hash: value('hash', 'HGETALL'),
    get_list: value('list', 'LRANGE', '0', '999'),
    get_set: value('set', 'SMEMBERS'),
    get_sorted_set: value('sorted set', 'ZRANGE', '0', '999', 'WITHSCORES'),
    get_stream: value('stream', 'XREVRANGE', '+', '-', 'COUNT', '100'),
    info: action('Show a Redis server', 'What a server says of itself.', asks, {
      run: ({ port, section }) => [port, 'INFO', section],
      params: {
        port: server.port,
        section: choice(Object.fromEntries(sections.map((word) => [word, word])), 'Of what'),
      },
    }),
    execute: action('Run a Redis command', 'Any command.', ['write', 'execute', 'network', 'destroy'], {
      run: ({ port, database, command, args }) => [port, database, command, args],
      params: {
        ...server,
        command: operand(
          z
            .string()
            .regex(/^[A-Za-z][\w.]*$/, 'expected a command')
            .describe('Command: SET'),
        ),
        args: words('Its arguments'),
      },
      given: { command: 'SET', args: ['cart:7', 'a b'] },
    }),
  },
});
