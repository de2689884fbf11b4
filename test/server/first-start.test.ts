import { expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../support/repository.ts';
import { inherited, initialize, startRaw } from '../support/server.ts';

const tools = ['list_programs', 'read_file', 'glob', 'grep', 'list_directory', 'write_file', 'edit_file'];
const others = [
  'move_path',
  'delete_path',
  'list_changes',
  'undo_change',
  'list_jobs',
  'read_output',
  'wait_job',
];

it('says nothing on standard error on its first start, while it compiles what it is asked for', async () => {
  const server = startRaw({
    roots: [temporaryFolder()],
    env: { ...inherited(), XDG_CACHE_HOME: temporaryFolder(), XDG_STATE_HOME: temporaryFolder() },
  });
  onTestFinished(() => void server.child.kill());
  let said = '';
  server.child.stderr.setEncoding('utf8').on('data', (chunk: string) => (said += chunk));
  await initialize(server);
  for (const [index, name] of [...tools, ...others].entries()) {
    const id = 100 + index;
    server.send({
      id,
      method: 'tools/call',
      params: { name, arguments: name === 'grep' ? { pattern: 'x' } : {} },
    });
    await server.next((message) => message.id === id);
    // What was compiled is kept after a moment of quiet.
    await new Promise((resolve) => setTimeout(resolve, 350));
  }
  server.child.stdin.end();
  await server.ended;
  expect(said).toBe('');
});
