import type * as z from 'zod';

/** The parts of a schema that zod shows to those who look into it. */
export interface SchemaDefinition {
  readonly type: string;
  readonly shape?: Readonly<Record<string, z.ZodType>>;
  readonly element?: z.ZodType;
  readonly entries?: Readonly<Record<string, unknown>>;
  readonly innerType?: z.ZodType;
}

/** Looks into a schema. */
export const definitionOf = (schema: z.core.$ZodType): SchemaDefinition =>
  schema._zod.def as unknown as SchemaDefinition;

/** The schema of a value that is given. */
export function bare(schema: z.ZodType): z.ZodType {
  const { innerType } = definitionOf(schema);
  return innerType ? bare(innerType) : schema;
}

/** True where a value need not be given. */
export const mayBeAbsent = (schema: z.core.$ZodType): boolean =>
  ['optional', 'default', 'nullable'].includes(definitionOf(schema).type);

/** True for a schema of lists. */
export const isList = (schema: z.ZodType): boolean => definitionOf(bare(schema)).type === 'array';
