import * as fc from 'fast-check';
import * as z from 'zod';
import type { Params } from '../../src/core/parameter.ts';

/* Values for any parameter: each gets what its schema takes of these. */

const nasty = [
  ...'-x -- --output=/etc/passwd - /t:Evil @/etc/passwd " \\ $(id) `id` ${x} %PATH% ; | && * ~ ! # ä 文 = -c=x ../.. con +x :'.split(
    ' ',
  ),
  ...[' ', 'a b', 'a\tb', 'a\nb', "a'b", '\u202E', '\0', 'a\0b', '', "'; DROP TABLE t; --", '-- x\nSELECT 1'],
];
const tame = [
  ...'1,10 5,9 0 true v1.2.3 AB a/b/c user@host:path https://example.org/a.git a a-b A=b x=-y src/a.ts 8080:80 1 main'.split(
    ' ',
  ),
  ...'127.0.0.1:1:2/udp p@1.2.3 @s/p @s/p@^1.0 A.b C#d https://example.org/a .a 2024-01-01 a:b'.split(' '),
  ...['A: b', 'a::b[c d]', 'SELECT 1', '{"a": 1}'],
];

export function values(schema: z.core.$ZodType): fc.Arbitrary<unknown> {
  const def = schema._zod.def as { type: string; innerType?: z.ZodType; element?: z.ZodType };
  if (def.type === 'optional') return fc.option(values(def.innerType!), { nil: undefined });
  if (def.type === 'default') return values(def.innerType!);
  if (def.type === 'array') return fc.array(values(def.element!), { minLength: 1, maxLength: 4 });
  const fits = (value: unknown) => z.safeParse(schema, value).success;
  const candidates = {
    boolean: [true, false],
    enum: Object.values((schema as z.ZodEnum).enum ?? {}),
    number: [-1, 0, 1, 2, 7, 100, 65_535, 1e12],
  }[def.type] ?? [...nasty, ...tame];
  const known = candidates.filter(fits);
  if (known.length === 0)
    throw new Error(`no value of the laws fits ${JSON.stringify(z.toJSONSchema(schema))}`);
  const any = fc.constantFrom(...known);
  if (def.type !== 'string') return any;
  return fc.oneof(
    any,
    fc.tuple(fc.string({ unit: 'binary' }), any).map(([text, other]) => (fits(text) ? text : other)),
  );
}
/** Any valid values of the parameters of an action. */
export const valuesOf = (params: Params) =>
  fc.record(Object.fromEntries(Object.entries(params).map(([key, { schema }]) => [key, values(schema)])));
