/**
 * How much the form of a line says by itself. Each includes those before it.
 * - sure    nobody prints it but to be answered
 * - likely  a question when the program also waits for an answer
 * - prompt  what a program that reads commands prints, and others as well: it counts where there is an input
 */
export type Certainty = 'sure' | 'likely' | 'prompt';

const yes = '(?:y|yes|j|ja|s|si|sí|o|oui|t|tak|д|да)';
const no = '(?:n|no|nein|non|não|nie|н|нет)';
const secret = '(?:pass ?word|pass ?phrase|passwd|passcode|passwort|mot de passe|contraseña|пароль)';
const code =
  '(?:pin|otp|token|api key|secret|(?:verification|security|one-time|authentication|2fa|mfa) (?:code|password))';
const name =
  '(?:user ?name|user|login|account|e-?mail(?: address)?|(?:your |full |first |last |project |package )?name|host ?name|answer|choice|your choice|selection|option|response)';
/** What is taken when nothing is entered. */
const default_ = '(?:\\s*[[(](?!\\d+\\s*/\\s*\\d+[\\])])[^\\])]{0,60}[\\])])?';
const unto = '(?: (?:for|of|on|to|from) .{1,200}?)?';
/** How far something has come: [3/12] */
const notProgress = '(?!.*[[(]\\d+\\s*/\\s*\\d+[\\])])';
/** What a program is doing is no question: Creating user: */
const notDoing =
  '(?!(?:\\W{0,4}|.{0,60} )[a-z]{2,}ing\\b|(?:error|warn|warning|fatal|info|debug|stage|step)\\b)';
const ofSecrets =
  '(?:(?:please|enter|type|re-?type|re-?enter|repeat|confirm|verify|verifying -|your|the|a|an|new|old|current|\\(current\\)|same|this|master|admin|root|user|unix|login|ssh|become|vault|sudo|key|keystore|export|import|pem|encryption) ){0,6}';
const wish =
  '(?:are you sure|do you (?:want|wish|accept|agree|really)|would you like|shall (?:we|i)|should (?:we|i)|is (?:this|that|it) (?:ok|okay|correct|right)|(?:ok|okay|safe) to (?:proceed|continue)|proceed(?: anyway)?|continue(?: anyway)?|(?:do you )?trust this)';

/** A line that has one of these forms, its end trimmed. */
const sure: readonly RegExp[] = [
  // Yes or no: [y/N]  (yes/no)?  (yes/no/[fingerprint])?  [y,n,q,a,d,e,?]?  [Y/n] (default Y):
  new RegExp(
    `[[(<]${yes}\\s*[/|,]\\s*${no}(?:[/|,][^)>\\s]{0,20})*[\\])>](?: \\(.{1,16}\\))?\\s?[?:>»›]*$`,
    'iu',
  ),
  // Proceed ([y]/n)?   Proceed y/n?
  new RegExp(`\\b${yes}\\]?\\s*/\\s*${no}\\)?\\s*[?:]+$`, 'iu'),
  // (y or n)?   'yes' or 'no':
  /[[('"]?\by(?:es)?['"]? or ['"]?n(?:o)?\b['"]?[)\]]?\s?[?:]?$/i,
  // Continue? [yes]:   Is this OK? (yes)
  new RegExp(`\\?\\s*[[(](?:${yes}|${no})[\\])]\\s*[:>]?$`, 'iu'),
  // replace a? [y]es, [n]o, [A]ll:   (a)bort, (c)ontinue, (e)dit:   (R)eject or accept (t)emporarily?
  /[[(]\w[\])]\w+[^?:]{0,40}[[(]\w[\])]\w+[^?:]{0,80}[?:>]$/,
  // A secret: [sudo] password for bob:   bob@example.org's password:   New password:   Enter passphrase for key '/k':
  new RegExp(
    `^(?:\\[[^\\]]{1,40}\\] |\\([^)]{1,80}\\) )?${ofSecrets}(?:\\S{1,100}'s )?${secret}(?: again| \\(again\\))?${unto}${default_}\\s*:$`,
    'iu',
  ),
  new RegExp(`^(?:please )?(?:enter|type|paste|input)\\b[^:]{0,60} ${code}${unto}${default_}\\s*[:?]$`, 'iu'),
  // Who someone is: localhost login:   Username for 'https://github.com':   Email: (this IS public)
  /^[\w.-]{1,60} login:$/,
  /^user ?name(?: for .{1,200})?:$/i,
  /^e-?mail: \([^)]{1,60}\)$/i,
  // Whether to go on: Are you sure you want to do it?   npm: Ok to proceed?
  new RegExp(
    `^(?:\\[[\\w ./-]{1,20}\\] |[\\w./-]{1,40}: |\\W{0,6})${wish}\\b[^?:"]{0,200}\\?\\s?[:>»›]?$`,
    'iu',
  ),
  // cp: overwrite 'b'?   rm: remove write-protected regular file 'a'?   mv: replace 'a', overriding mode 0444?
  /^(?:[\w./-]{1,40}: )?(?:overwrite|replace|remove|delete|descend into|try to overwrite|replace existing)\b.{0,200}\?$/i,
  // A key, or a pager: Press any key to continue . . .
  /^\W{0,6}(?:please )?(?:press|hit|strike)\s+(?:the\s+)?\W?(?:any key|enter|return)\b\W?(?:\s*key)?(?:\s+(?:to|when|for|once|and)\b.{0,80})?[\s.:…>)\]]*$/i,
  /^--more--(?:\s?\(.{1,30}\))?$|^\(END\)$|\(press h for help or q to quit\)$/i,
  // A value
  new RegExp(
    `^${notProgress}\\W{0,4}(?:please,? )?(?:enter|type|input)\\b[^:?]{0,120}${default_}\\s*[:?>]$`,
    'iu',
  ),
  // inquirer, prompts, survey, clack: "? Project name: ›", "? Pick one [Use arrows to move]"
  /^[?◆❔] \S.{0,200}[:?›»❯)\]>].{0,80}$/u,
];

const likely: readonly RegExp[] = [
  new RegExp(
    `^${notDoing}(?:.{0,120}\\W)?${secret}\\)?(?: again| \\(again\\))?${unto}${default_}\\s*:$`,
    'iu',
  ),
  new RegExp(
    `^(?:(?:please )?(?:enter|type|paste|input|your)\\b.{0,80}\\b)?${code}${unto}${default_}\\s*[:?]$`,
    'iu',
  ),
  new RegExp(`^${name}${unto}${default_}\\s*:(?: \\([^)]{0,60}\\))?$`, 'iu'),
  // Whether to go on, after another sentence
  new RegExp(`^.{0,200}[.!;,:] ${wish}\\b[^?:"]{0,200}\\?(?:\\s?[[(][^\\])]{1,40}[\\])])?\\s?[:>»›]?$`, 'iu'),
  new RegExp(
    `^(?:.{1,20}: |\\W{0,6})${wish}\\b[^?:"]{0,200}\\?\\s?[[(][^\\])]{1,40}[\\])]\\s?[:>»›]?$`,
    'iu',
  ),
  /(?:^|[.!;,:] )(?:press|hit|strike)\s+(?:the\s+)?\W?(?:any key|enter|return)\b[^.?]{0,80}[\s.:…>)\]]*$/i,
  // less
  /^lines \d+-\d+(?:\/\d+)?(?: (?:\d+%|\(END\)|byte \d+(?:\/\d+)?))*$/,
  new RegExp(
    `^${notProgress}\\W{0,4}(?:please,? )?(?:provide|specify|choose|select|pick)\\b[^:?]{0,120}${default_}\\s*[:?>]$`,
    'iu',
  ),
  /^(?:what|which|who|where|how many|how much|how should|when)\b.{2,120}\?$/i,
  // Country Name (2 letter code) [AU]:   Organization Name (eg, company) []:   AWS Access Key ID [None]:
  new RegExp(
    `^${notDoing}\\W{0,4}[a-z][\\w .,'/()-]{1,80} \\[(?![=#>.\\s-]+\\]|\\d+%?\\])[^\\]/,]{0,60}\\]\\s*:$`,
    'i',
  ),
  // keytool, on a line of its own
  /^\[Unknown\]:$/,
  // npm init
  /^(?:package name|version|description|entry point|test command|git repository|keywords|author|license|type):(?:\s*\([^)]*\))?$/,
  // A debugger, an interpreter, a database
  /^(?:#\?|>>>|\(gdb\)|\(lldb\)|\(Pdb\+*\)|ipdb>|In \[\d+\]:|irb\(.{1,40}\):\S*[>*])$/,
  /^[a-z][\w.:@-]{0,40}(?:=[#>]|-[#>])$/i,
  /^(?:mysql|MariaDB \[[^\]]{1,60}\]|sqlite|ftp|sftp|telnet|ghci|iex)>$/,
  /^\d{1,3}(?:\.\d{1,3}){3}:\d+>$/,
];

const prompt: readonly RegExp[] = [
  /^[>$]$/,
  /^[a-z][\w.:@-]{0,40}>$/i,
  new RegExp(`^[\\w.-]{1,60} ${name}${default_}\\s*:$`, 'iu'),
];

/** The forms of questions that are at least as certain. */
export const questionForms: Readonly<Record<Certainty, readonly RegExp[]>> = {
  sure,
  likely: [...sure, ...likely],
  prompt: [...sure, ...likely, ...prompt],
};

/** What menus that are driven with the arrow keys say; the choices stand below it. */
export const menuHint =
  /use (?:the )?arrows?(?:[ -]keys?)?|arrow[ -]keys|press <?space>? to (?:select|toggle)|return to submit|enter to (?:select|confirm|submit)/i;

/**
 * What vi says when it opens without a terminal, and goes on: it waits for keys then that nobody presses. Other programs
 * that fill a screen end by themselves, and what merely mentions a terminal may be a server.
 */
export const editorOpens = /^Vim: Warning: Input is not from a terminal$/m;
