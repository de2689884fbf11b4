import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { chatPlace, runChat } from '../support/chat.ts';
import { say } from '../support/fake-model.ts';

it('starts whatever a project holds, and none of its servers', async () => {
  const place = await chatPlace({ config: 'mode: plan\n' });
  const { cwd, model } = place;
  symlinkSync('.git', join(cwd, '.git'));
  writeFileSync(
    join(cwd, '.mcp.json'),
    `{"mcpServers": {"theirs": {"command": "x"}, "deep": ${'['.repeat(20_000)}`,
  );
  model.script(say('Well.'));
  expect(await runChat(place, ['-p', 'go', '--no-toolcrib'])).toEqual({
    code: 0,
    stdout: 'Well.\n',
    stderr: '',
  });
});
