/** The shape of a secret, for secrets whose values are not known. */
export interface SecretPattern {
  /** The name in the mask: "GitHub token". */
  readonly what: string;
  /** A pattern that takes linear time. The text of its first group is not masked. */
  readonly pattern: RegExp;
  /** A text in every such secret: only texts with it are searched. */
  readonly sign?: string;
}

// The beginning of a word; in JSON and source code, the n of a line end may stand before it.
const begins = String.raw`(?<!(?<!\\)[A-Za-z0-9])`;
/** A digit ahead, which distinguishes tokens from `ghp_xxxx…` and names in code. */
const digit = String.raw`(?=[A-Za-z_-]*\d)`;
const setTo = String.raw`\\?["']?\s{0,4}[:=]\s{0,4}\\?["']?`;

const shape = (what: string, pattern: string, flags = 'g'): SecretPattern => ({
  what,
  pattern: new RegExp(pattern, flags),
});

/** Tokens by prefix and length, as the services document them. */
const tokens = [
  shape('GitHub token', String.raw`(?:gh[pousr]_${digit}[A-Za-z0-9]{36,255}|github_pat_${digit}\w{22,255})`),
  shape('GitLab token', String.raw`gl(?:pat|oas|dt|rt|cbt|ptt|ft|imt|agent|soat)-${digit}[\w.-]{20,300}`),
  shape('Slack token', String.raw`(?:xox[a-z][-.]|xapp-)${digit}[\w.%-]{10,300}`),
  shape('Slack webhook', String.raw`(hooks\.slack\.com/)(?:services|workflows|triggers)/[\w/]{16,200}`),
  shape('AWS key id', `${begins}A[KS]IA[A-Z2-7]{16}(?![A-Za-z0-9])`),
  shape('AWS secret key', `(secret_?access_?key${setTo})[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+])`, 'gi'),
  shape('AWS session token', `(session_?token${setTo})[A-Za-z0-9/+]{100,4000}={0,2}`, 'gi'),
  shape('Google key', String.raw`${begins}(?:AIza[\w-]{35}(?![\w-])|GOCSPX-[\w-]{28}|ya29\.[\w-]{20,2000})`),
  shape('API key', String.raw`${begins}sk-(?:ant|proj|svcacct|admin|or)-${digit}[\w-]{20,300}`),
  shape('API key', String.raw`${begins}sk-${digit}[A-Za-z0-9]{20,200}(?![\w-])`),
  shape('Stripe key', `[rs]k_(?:live|test)_${digit}[A-Za-z0-9]{16,250}`),
  shape('npm token', `npm_${digit}[A-Za-z0-9]{36}(?![A-Za-z0-9])`),
  shape('npm login', String.raw`(:_(?:authToken|password|auth)\s{0,4}=\s{0,4}["']?)[^\s"'$\[]{8,2000}`),
  shape('PyPI token', String.raw`pypi-${digit}[\w-]{50,1000}`),
  shape('Hugging Face token', `${begins}hf_${digit}[A-Za-z0-9]{34}(?![A-Za-z0-9_])`),
  shape('Docker token', String.raw`dckr_[po]at_[\w-]{20,100}`),
  shape('JWT', String.raw`${begins}eyJ[\w-]{8,4000}\.eyJ[\w-]{8,8000}(?:\.[\w-]{0,2000})?`),
];

/** Secrets that are recognised by the text before them. */
const contexts = [
  shape(
    'password',
    String.raw`(://[^\s/?#"'<>\\:@]{0,200}:)(?!(?:pass(?:word|wd)?|pwd|secret|token|x{3,})@|\d{1,5},)` +
      String.raw`[^\s/?#"'<>{}[\]$*\\]{3,500}(?=@(?!sha\d{3}:))`,
    'gi',
  ),
  shape('login', String.raw`(authorization${setTo}basic\s{1,4})[A-Za-z0-9+/]{8,}={0,2}`, 'gi'),
  shape(
    'token',
    String.raw`(\bbearer\s{1,4}|private-token: {0,4})(?=[\w.~+/-]*\d)[\w.~+/-]{16,}={0,2}`,
    'gi',
  ),
];

// The text between the lines of a key: line ends, also escaped ones, quotes and plus signs of source code,
// line numbers, diff marks. No character that it could match follows it, so that nothing is tried in two
// ways.
const gap = String.raw`(?:[\s"'|>:,+-]|\\[nrt]|\\(?![nrt])|\d{1,7}(?=[\t:|-])){1,60}(?!\+)`;
const letter = '[A-Za-z0-9+/]';
const header = String.raw`${gap}[A-Z][A-Za-z-]{2,20}: [^\n\\]{1,120}`;
const marker = (which: 'BEGIN' | 'END') => `-----${which} [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----`;

/** Private keys, also without their beginning or end, or in base64 once more, as in a kubeconfig. */
const privateKeys = [
  shape(
    'private key',
    `${marker('BEGIN')}(?:${header}){0,5}(?:${gap}[A-Za-z0-9+/=]{16,200})+` +
      String.raw`(?:${gap}(?!END )[A-Za-z0-9+/=]{1,15}(?![\w.(-]))?(?:[^]{0,40}?${marker('END')})?`,
  ),
  {
    ...shape(
      'private key',
      `(?<!${letter})(?:${letter}{40,76}(?!${letter})${gap}){0,100}` +
        `[A-Za-z0-9+/=]{16,76}${gap}${marker('END')}`,
    ),
    sign: '-----END ',
  },
  shape('private key', 'LS0tLS1CRUdJTi(?:BSU0EgU|BFQyBQ|BQUklWQVRF|BPUEVOU1NI)[A-Za-z0-9+/=_-]{40,}'),
];

export const secretPatterns: readonly SecretPattern[] = [...tokens, ...contexts, ...privateKeys];
