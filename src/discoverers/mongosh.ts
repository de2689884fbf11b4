import * as z from 'zod';
import { glue, type Piece, type Slot } from '../core/command-line.ts';
import { operand } from '../core/parameter.ts';
import { limit, text } from '../core/params.ts';
import { action, program } from '../core/program.ts';
import { entries } from './reports/kinds.ts';
import { json } from './reports/readers.ts';
import { asks } from './shared/effects.ts';

// Whom it asks is the operator's: MONGODB_URI, or this machine. A value is a literal in a text that is fixed.
const literal = (value: unknown) => JSON.stringify(value);
const isJson = (value: string): boolean => {
  try {
    return typeof JSON.parse(value) === 'object';
  } catch {
    return false;
  }
};
const extended = z.string().max(100_000).refine(isJson, 'expected JSON; ids as {"_id": {"$oid": "…"}}');
const database = operand(
  z
    .string()
    .regex(/^\w[\w.-]{0,62}$/, 'expected the name of a database')
    .describe('Database'),
  literal,
);
const on = { database, collection: operand(text('Collection'), literal) };
const filter = operand(extended.default('{}').describe('What they are like: {"total": {"$gt": 5}}'), literal);
const given = { database: 'shop', collection: 'orders' };

const connection = 'const c = new Mongo(process.env.MONGODB_URI || "mongodb://127.0.0.1:27017"); ';
/** Prints what an expression is, as extended JSON. */
const printing = (...expression: Piece[]): Piece[] => [
  '--eval',
  glue(connection, 'print(EJSON.stringify(', ...expression, '))'),
];
const inside = (at: { database: Slot; collection: Slot }) =>
  glue('c.getDB(', at.database, ').getCollection(', at.collection, ')');
const parsed = (slot: Slot) => glue('EJSON.parse(', slot, ')');
const named = json(z.array(z.object({ name: z.string(), says: z.string() })), (all) => all);

export default program('mongosh', {
  title: 'MongoDB',
  category: 'database',
  site: 'https://www.mongodb.com/docs/mongodb-shell',
  get: { brew: 'mongosh', winget: 'MongoDB.Shell', npm: 'mongosh' },
  environment: ['MONGODB_URI'],
  before: ['--nodb', '--quiet', '--norc'],
  hints: [{ says: /ECONNREFUSED/, wayOut: 'No MongoDB listens there; the variable MONGODB_URI says where.' }],
  actions: {
    databases: action('List MongoDB databases', 'Databases with their sizes.', asks, {
      run: () =>
        printing(
          'c.getDB("admin").adminCommand({ listDatabases: 1 }).databases' +
            '.map((x) => ({ name: x.name, says: x.sizeOnDisk + " bytes" }))',
        ),
      out: entries('database')(named),
    }),
    collections: action('List MongoDB collections', 'Collections and views of a database.', asks, {
      run: (at) =>
        printing(
          'c.getDB(',
          at.database,
          ').getCollectionInfos().map((x) => ({ name: x.name, says: x.type }))',
        ),
      params: { database },
      given: { database: 'shop' },
      out: entries('collection')(named),
    }),
    indexes: action('List MongoDB indexes', 'Indexes of a collection.', asks, {
      run: (at) =>
        printing(inside(at), '.getIndexes().map((x) => ({ name: x.name, says: JSON.stringify(x.key) }))'),
      params: on,
      given,
      out: entries('index')(named),
    }),
    find: action('Find MongoDB documents', 'Documents that match a filter, as extended JSON.', asks, {
      run: (at) => printing(inside(at), '.find(', parsed(at.filter), ').limit(', at.limit, ').toArray()'),
      params: { ...on, filter, limit: operand(limit(1000, 20)) },
      given,
    }),
    count: action('Count MongoDB documents', 'How many documents match a filter.', asks, {
      run: (at) => printing(inside(at), '.countDocuments(', parsed(at.filter), ')'),
      params: { ...on, filter },
      given,
    }),
    update: action(
      'Update MongoDB documents',
      'Changes all documents that match.',
      ['write', 'network', 'destroy'],
      {
        run: (at) => printing(inside(at), '.updateMany(', parsed(at.filter), ', ', parsed(at.update), ')'),
        params: { ...on, filter, update: operand(extended.describe('{"$set": {"paid": true}}'), literal) },
        given: { ...given, update: '{"$set": {"paid": true}}' },
      },
    ),
    insert: action('Insert MongoDB documents', 'Adds documents.', ['write', 'network'], {
      run: (at) => printing(inside(at), '.insertMany(', parsed(at.documents), ')'),
      params: { ...on, documents: operand(extended.describe('A JSON array of documents'), literal) },
      given: { ...given, documents: '[{"total": 7}]' },
    }),
    remove: action('Delete MongoDB documents', 'Deletes all documents that match.', ['network', 'destroy'], {
      run: (at) => printing(inside(at), '.deleteMany(', parsed(at.filter), ')'),
      params: { ...on, filter: operand(extended.describe('What they are like'), literal) },
      given: { ...given, filter: '{"paid": false}' },
    }),
  },
});
