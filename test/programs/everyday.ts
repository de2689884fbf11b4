import type { ProgramTrial } from './types.ts';

const json = '{"name": "shop", "scripts": {"test": "true", "build": "tsc"}}\n';
const yaml = '# web\nservices:\n  web:\n    image: nginx\n';
const certificate = `-----BEGIN CERTIFICATE-----
MIIBnjCCAUSgAwIBAgIUEyi77Rv4N1UAvdwj7jte5lqro7MwCgYIKoZIzj0EAwIw
FzEVMBMGA1UEAwwMc2hvcC5leGFtcGxlMCAXDTI2MTEyMjE3MTI0NloYDzIxMjYx
MDI5MTcxMjQ2WjAXMRUwEwYDVQQDDAxzaG9wLmV4YW1wbGUwWTATBgcqhkjOPQIB
BggqhkjOPQMBBwNCAAQMDjUUxItMA3HvrDuE80dl8uB8DvbQzOsObaiQH7T2Z6tX
vTCZMW9+U9WdO2LIL19Ka3RFmiaaBrspgtmZt4mso2wwajAdBgNVHQ4EFgQUZQ8W
/YtGKX75yJ+NKsPucSVHa+QwHwYDVR0jBBgwFoAUZQ8W/YtGKX75yJ+NKsPucSVH
a+QwDwYDVR0TAQH/BAUwAwEB/zAXBgNVHREEEDAOggxzaG9wLmV4YW1wbGUwCgYI
KoZIzj0EAwIDSAAwRQIhAJBgF+bW56er44Z3rtO4zefVnj7R4TvgiLkuVCfrx5b3
AiA6hCEeKZxaHjkp68qVGOSIccXJrKPYD4maJ4swi6Dk4Q==
-----END CERTIFICATE-----
`;
const pdf = `%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 100]/Contents 4 0 R/Resources<</Font<</F1<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>>>endobj
4 0 obj<</Length 42>>stream
BT /F1 12 Tf 20 50 Td (Hello shop) Tj ET
endstream endobj
trailer<</Root 1 0 R>>
`;
const bench = '#!/bin/sh\nexit 0\n';

/** What is used every day, whatever a project is written in. */
const trials: readonly ProgramTrial[] = [
  {
    program: 'bash',
    from: { apt: 'bash' },
    files: { 'a.sh': 'echo "$1-$#"\n', 'bad.sh': 'if true; then\n' },
    calls: [
      ['run_script', { script: 'a.sh', args: ['x y', '-z'] }, /^x y-2$/m],
      ['check', { script: 'a.sh' }, /no diagnostics/],
      ['check', { script: 'bad.sh' }, /bad\.sh:\d error: syntax error/],
    ],
  },
  {
    program: 'zsh',
    from: { apt: 'zsh' },
    files: { 'a.zsh': 'print ${(U)1}\n', 'bad.zsh': 'echo a\ndone\n' },
    calls: [
      ['run_script', { script: 'a.zsh', args: ['loud'] }, /LOUD/],
      ['check', { script: 'bad.zsh' }, /bad\.zsh:2 error: parse error/],
    ],
  },
  {
    program: 'fish',
    from: { apt: 'fish' },
    files: { 'a.fish': 'echo (count $argv)\n', 'bad.fish': 'if true\n  echo a\n' },
    calls: [
      ['run_script', { script: 'a.fish', args: ['a', 'b'] }, /^2/],
      ['check', { script: 'bad.fish' }, /bad\.fish:1 error: Missing end/],
    ],
  },
  {
    program: 'jq',
    from: { apt: 'jq' },
    files: { 'package.json': json },
    calls: [
      ['filter', { filter: '.scripts | keys', paths: ['package.json'], compact: true }, /\["build","test"\]/],
      ['filter', { filter: '.name', paths: ['package.json'], raw: true }, /^shop$/m],
    ],
  },
  {
    program: 'yq',
    from: { apt: 'yq' },
    files: { 'compose.yaml': yaml },
    calls: [
      ['get', { keys: '.services.web.image', path: 'compose.yaml' }, /nginx/],
      ['get', { keys: '.services | keys', path: 'compose.yaml' }, /web/],
      // Debian has the one in Python, which keeps no comments.
      [
        'set',
        { keys: '.services.web.image', value: '"caddy"', path: 'compose.yaml' },
        /said nothing|edit the file/,
      ],
    ],
  },
  {
    program: 'xmllint',
    from: { apt: 'libxml2-utils' },
    files: { 'a.xml': '<r><a id="1">x</a></r>\n', 'bad.xml': '<r>\n<a></r>\n' },
    calls: [
      ['xpath', { xpath: '//a/text()', path: 'a.xml' }, /^x$/m],
      ['xpath', { xpath: '//b', path: 'a.xml' }, /nothing matches/],
      ['check', { paths: ['a.xml'] }, /no diagnostics/],
      ['check', { paths: ['bad.xml'] }, /2 diagnostics\n.*bad\.xml:2 error: .*mismatch/],
      ['format', { path: 'a.xml' }, /^ {2}<a id="1">/m],
    ],
  },
  {
    program: 'rg',
    from: { apt: 'ripgrep' },
    files: { 'src/a.ts': 'let a = 1 // TODO\n', 'b.md': 'TODO\n' },
    calls: [
      ['search', { pattern: 'TODO', type: 'ts' }, /1:let a = 1/],
      ['search', { pattern: 'FIXME' }, /nothing matches/],
    ],
  },
  {
    program: 'fd',
    from: { apt: 'fd-find' },
    files: { 'src/a.ts': '', 'src/b.md': '' },
    calls: [
      ['find', { extension: ['ts'] }, /1 path\nsrc\/a\.ts/],
      ['find', { pattern: '[ab]', kind: 'file', limit: 1 }, /raise limit/],
      ['find', { pattern: 'zzz' }, /no paths/],
    ],
  },
  {
    program: 'fzf',
    from: { apt: 'fzf' },
    files: {},
    calls: [
      ['filter', { query: 'usrsvc', lines: 'src/user-service.ts\nsrc/a.ts' }, /^src\/user-service\.ts$/m],
      ['filter', { query: 'zzz', lines: 'a' }, /nothing matches/],
    ],
  },
  {
    program: 'openssl',
    from: { apt: 'openssl' },
    files: { 'a.txt': 'abc', 'a.pem': certificate },
    calls: [
      ['digest', { paths: ['a.txt'] }, /^ba7816bf/m],
      ['certificate', { path: 'a.pem' }, /DNS:shop\.example/],
      ['server_certificate', { host: '127.0.0.1', port: 1 }, /Connection refused/],
    ],
  },
  {
    program: 'ssh',
    from: { apt: 'openssh-client' },
    files: {},
    calls: [['config', { host: 'git@example.org' }, /user git/]],
  },
  {
    program: 'file',
    from: { apt: 'file' },
    files: { 'a.json': json },
    calls: [['kind', { paths: ['a.json'] }, /JSON/]],
  },
  {
    program: 'tree',
    from: { apt: 'tree' },
    files: { 'src/a.ts': '' },
    calls: [['show', {}, /└── a\.ts/]],
  },
  {
    program: 'cloc',
    from: { apt: 'cloc' },
    files: { 'a.py': '# a\nprint(1)\n', 'node_modules/b.js': 'b\n' },
    calls: [['count', {}, /Python +1 +0 +1 +1/]],
  },
  {
    program: 'hyperfine',
    from: { apt: 'hyperfine' },
    files: { 'a.sh': bench },
    calls: [['compare', { paths: ['a.sh'], runs: 2 }, / ms ± |Permission denied/]],
  },
  {
    program: 'pandoc',
    from: { apt: 'pandoc' },
    files: { 'a.html': '<h1>Hi</h1><p>there</p>' },
    calls: [
      ['read', { path: 'a.html' }, /^# Hi/m],
      ['convert', { paths: ['a.html'], output: 'a.rst' }, /said nothing/],
    ],
  },
  {
    program: 'graphviz',
    from: { apt: 'graphviz' },
    files: { 'a.dot': 'digraph { a -> b }\n', 'bad.dot': 'digraph { a -> \n' },
    calls: [
      ['render', { path: 'a.dot', output: 'a.svg' }, /said nothing/],
      ['check', { path: 'a.dot' }, /a -> b/],
      ['check', { path: 'bad.dot' }, /syntax error in line/],
    ],
  },
  {
    program: 'identify',
    from: { apt: 'imagemagick' },
    files: { 'a.ppm': 'P3\n1 1\n255\n255 0 0\n' },
    calls: [['image', { paths: ['a.ppm'] }, /PPM 1x1 8-bit/]],
  },
  {
    program: 'pdftotext',
    from: { apt: 'poppler-utils' },
    files: { 'a.pdf': pdf },
    calls: [['read', { path: 'a.pdf', to: 1 }, /Hello shop/]],
  },
  {
    program: 'ffprobe',
    from: { apt: 'ffmpeg' },
    files: { 'a.srt': '1\n00:00:01,000 --> 00:00:02,000\nhi\n' },
    calls: [['media', { path: 'a.srt' }, /codec_name=subrip\|codec_type=subtitle/]],
  },
  {
    program: 'exiftool',
    from: { apt: 'libimage-exiftool-perl' },
    files: { 'a.ppm': 'P3\n1 1\n255\n255 0 0\n' },
    calls: [
      ['metadata', { paths: ['a.ppm'] }, /"File:ImageWidth": 1/],
      ['strip', { paths: ['a.ppm'] }, /image files/],
    ],
  },
  {
    program: 'sqlfluff',
    from: { apt: 'sqlfluff' },
    files: { 'q.sql': 'SELECT  a from b\n' },
    calls: [
      ['lint', { dialect: 'ansi' }, /q\.sql:1:\d+ warning: .*\[(?:L|LT|CP)\d+\]/],
      ['fix', { dialect: 'ansi' }, /PASS|FIXED/],
      ['lint', { dialect: 'ansi' }, /no diagnostics/],
    ],
  },
  {
    program: 'mise',
    from: { npm: '@jdxcode/mise@2026.9.15' },
    files: { 'mise.toml': '[tasks.build]\ndescription = "Builds"\nrun = "echo built"\n' },
    calls: [
      ['tasks', {}, /1 task\nbuild = echo built \(Builds\)/],
      ['task', { task: 'build', args: ['it'] }, /built it/],
      ['list', {}, /no packages/],
      ['outdated', {}, /no packages/],
      ['install', {}, /all tools are installed/],
      ['use', { tools: ['no-such-tool'] }, /no-such-tool/],
    ],
  },
  {
    program: 'direnv',
    from: { apt: 'direnv' },
    files: { '.envrc': 'export SHOP=1\n' },
    calls: [
      ['status', {}, /\.envrc: not allowed/],
      ['variables', {}, /is blocked/],
    ],
  },
  {
    program: 'curl',
    from: { apt: 'curl' },
    files: {},
    calls: [
      ['get', { url: 'http://127.0.0.1:1/' }, /Failed to connect|Couldn't connect/],
      ['head', { url: 'http://127.0.0.1:1/' }, /Failed to connect|Couldn't connect/],
      ['download', { url: 'http://127.0.0.1:1/a.zip', path: 'a.zip' }, /Failed to connect|Couldn't connect/],
    ],
  },
  {
    program: 'http',
    from: { apt: 'httpie' },
    files: {},
    calls: [['get', { url: 'http://127.0.0.1:1/' }, /Connection refused/]],
  },
  {
    program: 'system',
    from: { apt: 'procps' },
    files: {},
    calls: [
      ['processes', { limit: 1 }, /process(?:es)?/],
      ['disk', {}, /KB free/],
      ['memory', {}, /MB memory available/],
      ['uptime', {}, /load average/],
      ['ports', { port: 65_535 }, /no listening ports/],
      // Where systemd does not run, it says so.
      ['services', {}, /services?\n|systemd/],
      ['service', { service: 'no-such-thing' }, /could not be found|systemd/],
      ['service_log', { service: 'no-such-thing', limit: 5 }, /No entries|No journal/],
    ],
  },
];

export default trials;
