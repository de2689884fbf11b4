// A server as front ends have one for development: `node dev-server.mjs --port N` (0: any). It says where it listens, prints a
// line for each request, and takes the shortcuts "r" (restart), "u" (where) and "q" (quit) by its input, each with Enter.
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';

const port = Number(process.argv[process.argv.indexOf('--port') + 1]);
const server = createServer((request, response) => {
  console.log(`${request.method} ${request.url}`);
  response.end('<h1>It works</h1>');
});
const where = () => console.log(`  Local:   http://127.0.0.1:${server.address().port}/`);

server.listen(port, '127.0.0.1', () => {
  console.log('  DEV v1.0.0  ready in 12 ms');
  where();
});
createInterface({ input: process.stdin }).on('line', (line) => {
  if (line === 'r') console.log('server restarted.');
  if (line === 'u') where();
  if (line === 'q') process.exit();
});
