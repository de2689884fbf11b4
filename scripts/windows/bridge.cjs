// Runs in Node for Windows, and starts programs with real pipes of Windows: a pipe of Linux is EBADF in Wine's Node.
// It writes its port, and a key without which nobody else of this computer has something started.
// Each connection is a program; both sides send lines of JSON. First `{ key, words, cwd, env }`, then `{ stdin }`, and
// the end of what is sent ends standard input. Back come `{ stdout }`, `{ stderr }`, and at last `{ code }` or
// `{ error }`. A connection that breaks ends its program.
const { spawn } = require('node:child_process');
const { randomUUID } = require('node:crypto');
const { createServer } = require('node:net');
const { createInterface } = require('node:readline');

function start({ words: [file, ...args], cwd, env }, answer, ended) {
  // Names of variables count the same in any case, and only one of `Path` and `PATH` would be handed on.
  const given = new Set(Object.keys(env).map((name) => name.toUpperCase()));
  const others = Object.entries(process.env).filter(([name]) => !given.has(name.toUpperCase()));
  const whole = { ...Object.fromEntries(others), ...env };
  const child = spawn(file, args, { cwd, env: whole, stdio: 'pipe', windowsHide: true });
  child.on('error', (error) => ended({ error: String(error) }));
  child.on('close', (code) => ended({ code }));
  child.stdin.on('error', () => {}); // It has ended without reading all.
  for (const name of ['stdout', 'stderr'])
    child[name].setEncoding('utf8').on('data', (text) => answer({ [name]: text }));
  return child;
}

const key = randomUUID();
const server = createServer({ allowHalfOpen: true }, (socket) => {
  let child;
  const answer = (message) => socket.write(`${JSON.stringify(message)}\n`);
  const ended = (message) => socket.end(`${JSON.stringify(message)}\n`);
  socket.on('error', () => child?.kill());
  createInterface({ input: socket })
    .on('line', (line) => {
      const message = JSON.parse(line);
      if (child) child.stdin.write(message.stdin);
      else if (message.key === key) child = start(message, answer, ended);
      else socket.destroy();
    })
    .on('close', () => child?.stdin.end());
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port, key));
