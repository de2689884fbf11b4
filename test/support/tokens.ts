const alphabet = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';

/** Text as random as a token, the same at each run, put together so that no scanner takes it for a token. */
export function random(length: number, from = alphabet): string {
  let state = length * 2654435761;
  return Array.from({ length }, () => {
    state = (Math.imul(state ^ (state >>> 13), 1540483477) + 12345) >>> 0;
    return from[(state >>> 8) % from.length];
  }).join('');
}

const of = (what: string, before: string, secret: string, after = '') =>
  [what, `${before}${secret}${after}`, secret] as const;

/** Tokens as the services make them, and the part of each that must not be shown. */
export const tokens: readonly (readonly [what: string, token: string, secret: string])[] = [
  of('GitHub', 'ghp_', random(36)),
  of('GitHub', 'ghs_', random(36)),
  of('GitHub', `github_pat_${random(22)}_`, random(59)),
  of('GitLab', 'glpat-', random(20)),
  of('Slack', `xoxb-${random(12, '0123456789')}-`, random(24)),
  of('Slack', 'https://hooks.slack.com/services/T0A1B2C3D/B0A1B2C3D/', random(24)),
  of('AWS', 'AKIA', random(16, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567')),
  of('AWS', 'aws_secret_access_key = ', random(40)),
  of('AWS', '"SecretAccessKey": "', `${random(20)}/${random(19)}`, '"'),
  of('AWS', 'AWS_SESSION_TOKEN=', random(200)),
  of('Google', 'AIza', random(35)),
  of('Google', 'ya29.', random(120)),
  of('Stripe', 'sk_live_', random(24)),
  of('OpenAI', 'sk-', random(48)),
  of('OpenAI', 'sk-proj-', `${random(74)}_${random(20)}-${random(60)}`),
  of('Anthropic', 'sk-ant-api03-', `${random(93)}-${random(6)}AA`),
  of('npm', 'npm_', random(36)),
  of('.npmrc', '//registry.npmjs.org/:_authToken=', random(36)),
  of('PyPI', 'pypi-AgEIcHlwaS5vcmc', random(150)),
  of('Hugging Face', 'hf_', random(34)),
  of('Docker', 'dckr_pat_', random(27)),
  of('JWT', `eyJ${random(33)}.eyJ`, random(60), `.${random(43)}`),
  of('a URL', 'postgres://app:', 'tr0ub4dor&3', '@db.example.org:5432/main'),
  of('a URL', 'redis://:', 'onlypass99', '@localhost'),
  of('a header', 'Authorization: Bearer ', random(20)),
  of('a header', 'authorization: Basic ', 'YWxhZGRpbjpvcGVuc2VzYW1l'),
  of('a header', 'PRIVATE-TOKEN: ', random(20)),
];
