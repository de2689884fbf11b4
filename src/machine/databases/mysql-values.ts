import { parseExactly } from '../../core/exact-json.ts';
import { hexOf, shortened } from './cell.ts';

/** What a server says about a column, by the names of the driver. */
export interface Field {
  readonly name: string;
  /** The number of the type in the protocol. */
  readonly columnType?: number | undefined;
  readonly flags?: number | string[] | undefined;
  readonly characterSet?: number | undefined;
  /** MariaDB: `json`, for what is a text to the protocol. */
  readonly extendedFormat?: string | undefined;
}

/** By the numbers of the protocol (enum_field_types), of MySQL and MariaDB alike. */
const names: Readonly<Record<number, string>> = {
  ...(
    'decimal tinyint smallint int float double null timestamp bigint mediumint date time datetime year date varchar ' +
    'bit'
  ).split(' '),
  242: 'vector',
  245: 'json',
  246: 'decimal',
  247: 'enum',
  248: 'set',
  249: 'text',
  250: 'text',
  251: 'text',
  252: 'text',
  253: 'varchar',
  254: 'char',
  255: 'geometry',
};
const binaryNames: Readonly<Record<string, string>> = { text: 'blob', varchar: 'varbinary', char: 'binary' };
const flag = { unsigned: 32, enum: 256, set: 2048 };
/** The number of the character set that says: these are bytes. */
const bytesCharset = 63;

/** The name of a column's type, as a table would declare it: `int unsigned`, `decimal`. */
export function typeOf(field: Field): string {
  const { columnType = 253, characterSet } = field;
  const flags = typeof field.flags === 'number' ? field.flags : 0;
  if (field.extendedFormat === 'json') return 'json';
  if (flags & flag.enum) return 'enum';
  if (flags & flag.set) return 'set';
  const name = names[columnType] ?? `type ${columnType}`;
  const plain = characterSet === bytesCharset ? (binaryNames[name] ?? name) : name;
  return flags & flag.unsigned ? `${plain} unsigned` : plain;
}

/** A value as it is shown: bytes in hexadecimal, JSON as JSON, a 32-bit float with the digits that it has. */
export function valueOf(value: unknown, type: string, most: number): unknown {
  if (Buffer.isBuffer(value)) return hexOf(value.toString('hex'), most);
  if (typeof value === 'string') return type === 'json' ? jsonOf(value, most) : shortened(value, most);
  if (typeof value === 'number') return type.startsWith('float') ? Number(value.toPrecision(7)) : value;
  return value;
}

function jsonOf(text: string, most: number): unknown {
  if (text.length > most) return shortened(text, most);
  try {
    return parseExactly(text);
  } catch {
    // MariaDB's JSON is a text with a check that can be left out.
    return text;
  }
}
