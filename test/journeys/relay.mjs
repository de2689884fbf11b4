// A client whose death can be watched: it starts a program and hands on what comes and goes, as `node relay.mjs PROGRAM ARGS…`.
// Killed, it takes both ends of the program's pipes with it, which is all that a server learns of the end of its client.
import { spawn } from 'node:child_process';

const [program, ...args] = process.argv.slice(2);
const child = spawn(process.execPath, [program, ...args], { stdio: ['pipe', 'pipe', 'ignore'] });
child.stdout.pipe(process.stdout);
process.stdin.pipe(child.stdin);
child.once('exit', (code) => process.exit(code ?? 1));
