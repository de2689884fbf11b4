import { describe, expect, it } from 'vitest';
import { formQuestions } from '../../../src/repl/toolbox/elicitation.ts';

const field = (schema: Record<string, unknown>, required = true) =>
  formQuestions({
    type: 'object',
    properties: { it: schema },
    ...(required ? { required: ['it'] } : {}),
  })[0]!;

describe('the questions of a form', () => {
  it('come in its order, with what is said of them', () => {
    const questions = formQuestions({
      type: 'object',
      properties: {
        name: { type: 'string', title: 'Your name', description: 'As on the card' },
        age: { type: 'integer', default: 30 },
      },
      required: ['name'],
    });
    expect(questions).toMatchObject([
      { name: 'name', title: 'Your name', description: 'As on the card', choices: [], required: true },
      { name: 'age', title: 'age', description: '', choices: [], required: false, default: 30 },
    ]);
  });

  it.each([[{}], [{ properties: 7 }], [{ type: 'object', properties: {} }]])('are none in %j', (schema) =>
    expect(formQuestions(schema)).toEqual([]),
  );

  it('are asked as text where the schema is none we know', () => {
    expect(field({ type: 'object', properties: {} })).toMatchObject({ choices: [] });
    expect(formQuestions({ properties: { it: 'what' } })).toMatchObject([{ choices: [], required: false }]);
  });
});

describe('an answer', () => {
  const sizes = { type: 'string', enum: ['s', 'm', 'l'], enumNames: ['Small', 'Medium', 'Large'] };
  const titled = {
    type: 'string',
    oneOf: [
      { const: 'r', title: 'Red' },
      { const: 'g', title: 'Green' },
    ],
  };
  const decision = {
    type: 'string',
    enum: ['yes', 'always', 'no'],
    enumNames: ['Yes, this time', 'Always', 'No'],
  };
  const several = {
    type: 'array',
    items: { type: 'string', enum: ['a', 'b', 'c'] },
    minItems: 1,
    maxItems: 2,
  };
  const severalTitled = { type: 'array', items: { anyOf: titled.oneOf } };

  it.each([
    [{ type: 'string' }, '  some text ', 'some text'],
    [{ type: 'string', format: 'email' }, 'a@b.c', 'a@b.c'],
    [{ type: 'string', format: 'uri' }, 'https://x.y', 'https://x.y'],
    [{ type: 'string', format: 'date' }, '2026-11-20', '2026-11-20'],
    [{ type: 'string', format: 'date-time' }, '2026-11-20T10:00:00Z', '2026-11-20T10:00:00Z'],
    [{ type: 'string', format: 'unknown' }, 'x', 'x'],
    [{ type: 'number', minimum: 0 }, '1.5', 1.5],
    [{ type: 'integer' }, '-3', -3],
    [{ type: 'boolean' }, 'Yes', true],
    [{ type: 'boolean' }, 'n', false],
    [sizes, 'medium', 'm'],
    [sizes, 'L', 'l'],
    [sizes, '1', 's'],
    [titled, 'Green', 'g'],
    [decision, 'Y', 'yes'],
    [decision, 'n', 'no'],
    [{ type: 'string', enum: ['yes', 'n'] }, 'n', 'n'],
    [{ type: 'string', enum: ['2', '1'] }, '1', '1'],
    [several, 'a, 3', ['a', 'c']],
    [several, 'b,b', ['b']],
    [severalTitled, 'red, green', ['r', 'g']],
    [{ type: 'string', default: 'as before' }, '', 'as before'],
    [{ type: 'boolean', default: false }, '', false],
  ])('to %j: %j is %j', (schema, text, value) => expect(field(schema).check(text)).toEqual({ value }));

  it.each([
    [{ type: 'string' }, '', 'An answer is needed.'],
    [{ type: 'string', minLength: 3 }, 'ab', 'At least 3 characters.'],
    [{ type: 'string', maxLength: 3 }, 'abcd', 'At most 3 characters.'],
    [{ type: 'string', format: 'email' }, 'nobody', '"nobody" is no email.'],
    [{ type: 'string', format: 'date' }, '2026-13-45', '"2026-13-45" is no date.'],
    [{ type: 'number' }, 'many', '"many" is no number.'],
    [{ type: 'number', maximum: 5 }, '6', 'At most 5.'],
    [{ type: 'integer' }, '1.5', 'It has to be a whole number.'],
    [{ type: 'boolean' }, 'maybe', 'Answer yes or no.'],
    [sizes, 'huge', 'Answer one of Small, Medium, Large.'],
    [sizes, '4', 'Answer one of Small, Medium, Large.'],
    [decision, 'a', 'Answer one of Yes, this time, Always, No.'],
    [several, 'a,b,c', 'At most 2 of them.'],
    [several, ',', 'At least 1 of them.'],
  ])('to %j: %j is asked again', (schema, text, problem) =>
    expect(field(schema).check(text)).toEqual({ problem }),
  );

  it('may be left out when the form says so', () => {
    expect(field({ type: 'integer' }, false).check(' ')).toEqual({ value: undefined });
  });
});
