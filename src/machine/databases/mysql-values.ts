import mysql, { type FieldPacket } from 'mysql2';
import { hexOf, jsonOf, shortened } from './cell.ts';

/** MariaDB says of what is a text to the protocol that it is `json`. */
type Field = FieldPacket & { readonly extendedFormat?: string };

/** The protocol's own names (enum_field_types), which the driver's types leave out. */
const { Types } = mysql as unknown as { readonly Types: Readonly<Record<number, string>> };

/** Those that are otherwise than a table would declare them. */
const declared: Readonly<Record<string, string>> = {
  TINY: 'tinyint',
  SHORT: 'smallint',
  INT24: 'mediumint',
  LONG: 'int',
  LONGLONG: 'bigint',
  NEWDECIMAL: 'decimal',
  VAR_STRING: 'varchar',
  STRING: 'char',
};
const flag = { enum: 256, set: 2048 };
/** The number of the character set that says: these are bytes. */
const bytesCharset = 63;

/** The name of a column's type, as a table would declare it, without lengths: `int`, `decimal`. */
export function typeOf(field: Field): string {
  const flags = typeof field.flags === 'number' ? field.flags : 0;
  if (field.extendedFormat === 'json') return 'json';
  if (flags & flag.enum) return 'enum';
  if (flags & flag.set) return 'set';
  const code = Types[field.columnType ?? 253] ?? 'unknown';
  if (code.endsWith('BLOB')) return field.characterSet === bytesCharset ? 'blob' : 'text';
  return declared[code] ?? code.toLowerCase();
}

/** A value as it is shown: bytes in hexadecimal, JSON as JSON, a 32-bit float with the digits that it has. */
export function valueOf(value: unknown, type: string, most: number): unknown {
  if (Buffer.isBuffer(value)) return hexOf(value.toString('hex'), most);
  if (typeof value === 'string') return type === 'json' ? jsonOf(value, most) : shortened(value, most);
  if (typeof value === 'number') return type === 'float' ? Number(value.toPrecision(7)) : value;
  return value;
}
