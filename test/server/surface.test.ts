import { readdirSync } from 'node:fs';
import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import { expect, it } from 'vitest';
import { errorCodes } from '../../src/core/errors.ts';
import { loadManifest } from '../../src/server/registry/manifest.ts';
import type { ToolDefinition } from '../../src/core/tool-definition.ts';
import { toolsPage } from './tools-page.ts';

// The definition of each tool is recorded, so that a review sees a change of it. `npm test -- -u` writes it.
const { tools, programs } = await loadManifest();

const own = tools.filter(({ action }) => action === undefined);

/** The part of a definition that clients see; the rest decides whether they do. */
const publishedShape = ({
  name,
  program,
  effects,
  title,
  description,
  inputSchema,
  annotations,
}: ToolDefinition) => ({ name, program, effects, title, description, inputSchema, annotations });

it.each(own)('keeps the definition of $name as it was recorded', async (tool: ToolDefinition) => {
  await expect(`${JSON.stringify(publishedShape(tool), null, 2)}\n`).toMatchFileSnapshot(
    `../tools/definitions/${tool.name}.json`,
  );
});

it('keeps no recorded definition of a tool that is gone', () => {
  const published = new Set(own.map(({ name }) => `${name}.json`));
  expect(readdirSync('test/tools/definitions').filter((file) => !published.has(file))).toEqual([]);
});

it('lists every program, tool and error code in docs/tools.md', async () => {
  await expect(toolsPage(tools, programs, errorCodes)).toMatchFileSnapshot('../../docs/tools.md');
});

it('spends few tokens on a tool', () => {
  const visible = tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
  const tokens = encode(JSON.stringify(visible)).length;
  expect(tokens / visible.length).toBeLessThan(97);
});
