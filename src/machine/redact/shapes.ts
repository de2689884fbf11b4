import { assignments } from './assignments.ts';

/** What a secret looks like when nobody has told us its value. */
export interface Shape {
  /** What stands in the mask: "GitHub token". */
  readonly what: string;
  /** Texts it begins with, at least three characters each: what is looked for first. */
  readonly starts: readonly string[];
  /**
   * What has to follow, sticky. What its group holds is masked, and has to end the match (what comes after it belongs
   * into a lookahead); without a group all is masked, the start as well.
   */
  readonly rest: RegExp;
  /** What the start has to begin, because it can stand inside an ordinary one: a word, or a name with hyphens; or that it has to stand in a call of curl. */
  readonly begins?: 'word' | 'name' | 'curl';
  /**
   * Which texts are no secret after all. `random`: letters and digits, no pattern; `chosen`: anything but a stand-in, as
   * passwords are chosen by people; `set`: chosen, and no name, path or call that stands for a value; `literal`: set, and
   * no ordinary word or text either. Left out: the shape says it all.
   */
  readonly must?: 'random' | 'chosen' | 'set' | 'literal';
}

/** Prefix and length as the services document them, or as their tokens have been for years. */
const tokens: readonly Shape[] = [
  {
    what: 'GitHub token',
    starts: ['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'],
    rest: /\w{36,255}/y,
    must: 'random',
  },
  { what: 'GitHub token', starts: ['github_pat_'], rest: /\w{22,255}/y, must: 'random' },
  {
    what: 'GitLab token',
    starts: [
      'glpat-',
      'gloas-',
      'gldt-',
      'glrt-',
      'glcbt-',
      'glptt-',
      'glft-',
      'glimt-',
      'glagent-',
      'glsoat-',
    ],
    rest: /[\w.-]{20,300}/y,
    must: 'random',
  },
  {
    what: 'Slack token',
    starts: [
      'xoxb-',
      'xoxp-',
      'xoxa-',
      'xoxr-',
      'xoxs-',
      'xoxo-',
      'xoxe-',
      'xoxe.',
      'xoxc-',
      'xoxd-',
      'xapp-',
    ],
    rest: /[\w.%-]{10,300}/y,
    must: 'random',
  },
  {
    what: 'Slack webhook',
    starts: ['hooks.slack.com/'],
    rest: /(?:services|workflows|triggers)\/([\w/]{16,200})/y,
  },
  { what: 'Discord webhook', starts: ['/api/webhooks/'], rest: /\d{16,20}\/([\w-]{60,80})/y },
  { what: 'AWS key id', starts: ['AKIA', 'ASIA'], rest: /[A-Z2-7]{16}(?![A-Za-z0-9])/y, begins: 'word' },
  {
    what: 'AWS secret key',
    starts: ['ecret_access_key', 'ECRET_ACCESS_KEY', 'ecretAccessKey', 'ecretaccesskey'],
    rest: /\\{0,3}["']?\s{0,8}[:=]\s{0,8}\\{0,3}["']?([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+])/y,
    must: 'random',
  },
  {
    what: 'AWS session token',
    starts: ['ession_token', 'ESSION_TOKEN', 'essionToken'],
    rest: /\\{0,3}["']?\s{0,8}[:=]\s{0,8}\\{0,3}["']?([A-Za-z0-9/+]{100,4000}={0,2})/y,
  },
  { what: 'Google API key', starts: ['AIza'], rest: /[\w-]{35}(?![\w-])/y, begins: 'word', must: 'random' },
  { what: 'Google OAuth secret', starts: ['GOCSPX-'], rest: /[\w-]{28}/y, must: 'random' },
  { what: 'Google access token', starts: ['ya29.'], rest: /[\w-]{20,2000}/y, begins: 'word', must: 'random' },
  {
    what: 'Stripe key',
    starts: ['sk_live_', 'rk_live_', 'sk_test_', 'rk_test_'],
    rest: /[A-Za-z0-9]{16,250}/y,
    must: 'random',
  },
  { what: 'webhook secret', starts: ['whsec_'], rest: /[A-Za-z0-9+/=]{24,250}/y, must: 'random' },
  { what: 'Anthropic key', starts: ['sk-ant-'], rest: /[\w-]{20,250}/y, must: 'random' },
  {
    what: 'OpenAI key',
    starts: ['sk-proj-', 'sk-svcacct-', 'sk-admin-', 'sk-None-'],
    rest: /[\w-]{20,250}/y,
    must: 'random',
  },
  { what: 'OpenRouter key', starts: ['sk-or-'], rest: /v1-[0-9a-f]{64}/y },
  // No further hyphens: `sk-` also begins names of style sheets.
  { what: 'API key', starts: ['sk-'], rest: /[A-Za-z0-9]{20,200}(?![\w-])/y, begins: 'name', must: 'random' },
  { what: 'npm token', starts: ['npm_'], rest: /[A-Za-z0-9]{36}(?![A-Za-z0-9])/y, must: 'random' },
  { what: 'PyPI token', starts: ['pypi-'], rest: /[\w-]{50,1000}/y, must: 'random' },
  { what: 'Docker token', starts: ['dckr_pat_', 'dckr_oat_'], rest: /[\w-]{20,100}/y, must: 'random' },
  {
    what: 'Hugging Face token',
    starts: ['hf_', 'api_org_'],
    rest: /[A-Za-z0-9]{34}(?![A-Za-z0-9_])/y,
    begins: 'word',
    must: 'random',
  },
  { what: 'SendGrid key', starts: ['SG.'], rest: /[\w-]{20,24}\.[\w-]{39,50}(?![\w-])/y, begins: 'word' },
  // Only in lower case hexadecimal; account numbers (AC…) are no secret.
  {
    what: 'Twilio key',
    starts: [...'0123456789abcdef'].map((digit) => `SK${digit}`),
    rest: /[0-9a-f]{31}(?![A-Za-z0-9])/y,
    begins: 'word',
    must: 'random',
  },
  { what: 'JWT', starts: ['eyJ'], rest: /[\w-]{8,}\.eyJ[\w-]{8,}(?:\.[\w-]*)?/y, begins: 'name' },
  // Encrypted: the second part is empty, or no JSON.
  {
    what: 'JWT',
    starts: ['eyJ'],
    rest: /[\w-]{17,}\.[\w-]*\.[\w-]{10,}\.[\w-]{10,}\.[\w-]{10,}/y,
    begins: 'name',
  },
  { what: 'DigitalOcean token', starts: ['dop_v1_', 'doo_v1_', 'dor_v1_'], rest: /[0-9a-f]{64}/y },
  { what: 'Azure key', starts: ['AccountKey=', 'SharedAccessKey='], rest: /([A-Za-z0-9+/]{40,100}={0,2})/y },
  {
    what: 'Azure client secret',
    starts: ['8Q~', '7Q~', '9Q~'],
    rest: /[\w.~-]{31,34}(?![\w.~-])/y,
    must: 'random',
  },
  {
    what: 'Databricks token',
    starts: ['dapi'],
    rest: /[0-9a-f]{32}(?:-\d)?(?![A-Za-z0-9])/y,
    begins: 'word',
  },
  { what: 'Linear key', starts: ['lin_api_', 'lin_oauth_'], rest: /[A-Za-z0-9]{32,80}/y, must: 'random' },
  { what: 'Shopify token', starts: ['shpat_', 'shpca_', 'shppa_', 'shpss_'], rest: /[0-9a-fA-F]{32}/y },
  // The number of the bot stands before it, and is no secret.
  { what: 'Telegram token', starts: [':AA'], rest: /[\w-]{33}(?![\w-])/y, must: 'random' },
  {
    what: 'Vault token',
    starts: ['hvs.', 'hvb.', 'hvr.'],
    rest: /[\w-]{20,300}/y,
    begins: 'word',
    must: 'random',
  },
  { what: 'Grafana token', starts: ['glsa_', 'glc_ey'], rest: /[\w+/=-]{30,400}/y, must: 'random' },
  { what: 'Postman key', starts: ['PMAK-'], rest: /[0-9a-f]{24}-[0-9a-f]{34}/y },
  { what: 'Figma token', starts: ['figd_', 'figu_'], rest: /[\w-]{30,100}/y, must: 'random' },
  { what: 'Tailscale key', starts: ['tskey-'], rest: /[a-z]{3,10}-[\w-]{10,100}/y, must: 'random' },
  { what: 'Atlassian token', starts: ['ATATT3', 'ATCTT3'], rest: /[\w=-]{50,400}/y, begins: 'word' },
  { what: 'Notion token', starts: ['ntn_'], rest: /[A-Za-z0-9]{40,60}/y, must: 'random' },
  { what: 'New Relic key', starts: ['NRAK-'], rest: /[A-Z0-9]{27}/y },
  { what: 'RubyGems key', starts: ['rubygems_'], rest: /[0-9a-f]{48}/y },
  { what: 'Supabase token', starts: ['sbp_'], rest: /[0-9a-f]{40}/y },
  { what: 'Netlify token', starts: ['nfp_', 'nfc_'], rest: /[A-Za-z0-9]{36}/y, must: 'random' },
  { what: 'Sentry token', starts: ['sntrys_', 'sntryu_'], rest: /[\w+/=-]{40,400}/y },
  { what: 'Pulumi token', starts: ['pul-'], rest: /[0-9a-f]{40}(?![0-9a-f])/y, begins: 'word' },
  {
    what: 'Doppler token',
    starts: ['dp.pt.', 'dp.st.', 'dp.ct.', 'dp.sa.'],
    rest: /[\w.-]{40,80}/y,
    begins: 'word',
    must: 'random',
  },
  {
    what: 'API key',
    starts: ['gsk_', 'xai-', 'pplx-', 'r8_', 'nvapi-', 'tgp_v1_', 'fw_'],
    rest: /[\w-]{32,100}(?![\w-])/y,
    begins: 'name',
    must: 'random',
  },
  { what: '1Password token', starts: ['ops_ey'], rest: /[\w-]{100,2000}/y },
  { what: 'age key', starts: ['AGE-SECRET-KEY-1'], rest: /[A-Z0-9]{58}/y },
];

/** Secrets known by what stands before them. */
const places: readonly Shape[] = [
  ...assignments,
  // To the last @ that can end it: people leave one in a password unescaped.
  {
    what: 'password',
    starts: ['://'],
    rest: /[^\s/?#"'`<>\\:@]*:(?!\d{1,5},)([^\s/?#"'`<>\\]{1,500})(?=@(?!sha\d{3}:))/y,
    must: 'chosen',
  },
  // With a slash in it, which belongs escaped; what begins with a port is a path.
  {
    what: 'password',
    starts: ['://'],
    rest: /[^\s/?#"'`<>\\:@]*:(?!\d{1,5}[/,])([^\s?#"'`<>\\@]{8,120})(?=@(?!sha\d{3}:)[\w.-])/y,
    must: 'random',
  },
  // A token in the place of a user.
  { what: 'token', starts: ['://'], rest: /([\w-]{20,300})(?=@)/y, must: 'random' },
  {
    what: 'password',
    starts: [' -u ', ' --user ', ' --user='],
    rest: /["']?[^\s:"'$]{1,100}:([^\s"'`|;]{4,200})/y,
    begins: 'curl',
    must: 'chosen',
  },
  {
    what: 'authorization',
    starts: ['uthorization', 'UTHORIZATION'],
    rest: /\\{0,3}["'`]?\s{0,4}[:=,]\s{0,4}\\{0,3}["'`]?(?:bearer|basic|token|apikey|api-key|negotiate)\s{1,4}([\w.~+/=:-]{8,})/iy,
    must: 'chosen',
  },
  { what: 'authorization', starts: ['Bearer ', 'bearer '], rest: /([\w.~+/-]{20,}={0,2})/y, must: 'random' },
  {
    what: 'API key',
    starts: ['pi-key', 'pi-Key', 'PI-Key', 'PI-KEY'],
    rest: /\\{0,3}["'`]?\s{0,4}[:=,]\s{0,4}\\{0,3}["'`]?([\w.~+/=-]{16,300})/y,
    must: 'random',
  },
  {
    what: 'token',
    starts: ['RIVATE-TOKEN:', 'rivate-token:', 'Job-Token:', 'JOB-TOKEN:'],
    rest: /\s{0,4}([\w.~+/=-]{16,300})/y,
    must: 'random',
  },
  {
    what: 'npm login',
    starts: [':_authToken', ':_password', ':_auth'],
    rest: /\s{0,4}=\s{0,4}\\{0,3}["']?([^\s"'$]{8,2000})/y,
    must: 'chosen',
  },
  {
    what: 'password',
    starts: ['machine '],
    rest: /\s{0,20}\S{1,255}\s{1,20}login\s{1,20}\S{1,255}\s{1,20}password\s{1,20}(\S{1,255})/y,
    must: 'chosen',
  },
  {
    what: 'login',
    starts: ['"auth'],
    rest: /\\{0,3}"\s{0,4}:\s{0,4}\\{0,3}"([A-Za-z0-9+/]{12,4000}={0,2})(?=\\{0,3}")/y,
    must: 'random',
  },
  {
    what: 'token',
    starts: [
      '"access_token',
      '"refresh_token',
      '"id_token',
      '"client_secret',
      '"accessToken',
      '"refreshToken',
      '"clientSecret',
    ],
    rest: /\\{0,3}"\s{0,4}:\s{0,4}\\{0,3}"([^"\\\s]{16,4000})(?=\\{0,3}")/y,
    must: 'random',
  },
  {
    what: 'token',
    starts: [
      'access_token=',
      'client_secret=',
      'refresh_token=',
      '-Signature=',
      'Security-Token=',
      '&sig=',
      '?sig=',
    ],
    rest: /([\w%.~+/-]{16,4000}={0,2})/y,
    must: 'random',
  },
];

/** All shapes but private keys, which have no fixed end. */
export const shapes: readonly Shape[] = [...tokens, ...places];

/** Names of environment variables that say that the value is a secret. */
export const secretName =
  /TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|(?:API|PRIVATE|ACCESS|SIGNING|ENCRYPTION|MASTER|DEPLOY|LICENSE)_?KEY|CREDENTIAL|(?:^|_)(?:AUTH|PASS|PWD|PAT|DSN|COOKIE|WEBHOOK)(?:_|$)|AUTHORIZATION|_KEY$|CONNECTION_?STRING|WEBHOOK_URL$/i;

/** Such names of what only says where a secret lies, or something about it. */
export const harmlessName =
  /^(?:PWD|OLDPWD|SSH_AUTH_SOCK|XAUTHORITY|GPG_TTY)$|(?:_FILE|_PATH|_DIR|_FOLDER|_HOME|_SOCK|_SOCKET|_HELPER|_COMMAND|_PROGRAM|_TYPE|_METHOD|_MODE|_ENABLED|_ID|_NAME|_USER|_USERNAME|_EXPIRES?|_EXPIRY|_TTL|_TIMEOUT|_LENGTH|_LIMIT|_COUNT|_REGION|_HOST|_PORT|_VERSION)$|MAX_.*TOKENS/i;

/** The beginnings of absolute paths, so that a secret with a slash in front is not taken for one. */
export const pathStart =
  /^(?:~[\\/]|\.{1,2}[\\/]|[A-Za-z]:[\\/]|\\\\|\/(?:home|Users|usr|etc|var|tmp|run|opt|root|private|Library|System|Applications|Volumes|mnt|media|srv|dev|proc|sys|nix|snap|bin|lib|app|data|workspaces?|secrets?|config)(?:\/|$))/;
