// Says things in a session until it is killed, some 10 MB at most. Arguments: state folder, the session's file or nothing for a new one.
import { sessionStore } from '../../../src/repl/session/store.ts';
import { createSession } from '../../../src/repl/session/session.ts';
import { answers, says, reopened } from './bodies.ts';

const [state = '', file] = process.argv.slice(2);
const session = file
  ? reopened(file)
  : createSession(sessionStore(state, process.cwd()), { cwd: process.cwd() });
session.append(says('begins'));
process.stdout.write(`${session.file}\n`);
for (let turn = 0; turn < 4000; turn++) {
  session.append(
    turn % 2 === 0
      ? answers(`answer ${turn} ${'x'.repeat((turn * 7919) % 4000)}`)
      : says(`${turn} é😀\u2028`),
  );
}
setInterval(() => {}, 1000);
