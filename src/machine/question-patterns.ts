/** A form that questions of programs have, tried on the last line of what a program has printed, its end trimmed. */
export interface QuestionForm {
  readonly asks: string;
  readonly form: RegExp;
}

const yes = '(?:y|yes|j|ja|s|si|sí|o|oui|t|tak|д|да)';
const no = '(?:n|no|nein|non|não|nie|н|нет)';
const secret = '(?:pass ?word|pass ?phrase|passwd|passcode|passwort|mot de passe|contraseña|пароль)';
const code =
  '(?:pin|otp|token|api key|secret|(?:verification|security|one-time|authentication|2fa|mfa) (?:code|password))';
const name =
  '(?:user ?name|user|login|account|e-?mail(?: address)?|(?:your |full |first |last |project |package )?name|host ?name|answer|choice|your choice|selection|option|response)';
const default_ = '(?:\\s*[[(][^\\])]{0,60}[\\])])?';
const unto = '(?: (?:for|of|on|to|from) .{1,200}?)?';

const forms: Readonly<Record<string, readonly RegExp[]>> = {
  'yes or no': [
    // [y/N]  (yes/no)?  (yes/no/[fingerprint])?  [y,n,q,a,d,e,?]?  [Y/n] (default Y):
    new RegExp(`[[(<]${yes}\\s*[/|,]\\s*${no}(?:[/|,][^)>\\s]{0,20})*[\\])>].{0,20}?[?:>»›]*$`, 'iu'),
    // Proceed y/n?
    new RegExp(`\\b${yes}\\s*/\\s*${no}\\s*[?:]+$`, 'iu'),
    // (y or n)?   'yes' or 'no':
    /[[('"]?\by(?:es)?['"]? or ['"]?n(?:o)?\b.{0,40}[)\]?:]$/i,
    // Continue? [yes]:   Is this OK? (yes)
    new RegExp(`\\?\\s*[[(](?:${yes}|${no})[\\])]\\s*[:>]?$`, 'iu'),
    // replace a? [y]es, [n]o, [A]ll:   (a)bort, (c)ontinue, (e)dit:   (R)eject or accept (t)emporarily?
    /[[(]\w[\])]\w+[^?:]{0,40}[[(]\w[\])]\w+[^?:]{0,80}[?:>]$/,
  ],
  'a secret': [
    new RegExp(
      `^(?!(?:error|warn|warning|fatal|info|debug)\\b)(?:.{0,120}\\W)?${secret}\\)?(?: again| \\(again\\))?${unto}${default_}\\s*:$`,
      'iu',
    ),
    new RegExp(
      `^(?:(?:please )?(?:enter|type|paste|input|your)\\b.{0,80}\\b)?${code}${unto}${default_}\\s*[:?]$`,
      'iu',
    ),
    /^enter pem pass phrase:$/i,
  ],
  'who someone is': [
    new RegExp(`^(?:[\\w.-]{1,60} )?${name}${unto}${default_}\\s*:(?: \\([^)]{0,60}\\))?$`, 'iu'),
  ],
  'whether to go on': [
    /(?:^|\W)(?:are you sure|do you (?:want|wish|accept|agree|really)|would you like|shall (?:we|i)|should (?:we|i)|is (?:this|that|it) (?:ok|okay|correct|right)|(?:ok|okay|safe) to (?:proceed|continue)|proceed(?: anyway)?|continue(?: anyway)?|trust this)\b[^?]{0,200}\?[^?]{0,40}$/i,
    // cp: overwrite 'b'?   rm: remove write-protected regular file 'a'?   mv: replace 'a', overriding mode 0444?
    /^(?:[\w./-]{1,40}: )?(?:overwrite|replace|remove|delete|descend into|try to overwrite|replace existing)\b.{0,200}\?$/i,
  ],
  'for a key': [
    /\b(?:press|hit|strike)\s+(?:the\s+)?\W?(?:any key|enter|return)\b\W?(?:\s*key)?(?:\s+(?:to|when|for|once|and)\b.{0,80})?[\s.:…>)\]]*$/i,
    /(?:^|\W)--more--|^lines \d+-\d+(?:\/\d+)?|^\(END\)$|\(press h for help or q to quit\)$/i,
  ],
  'for a value': [
    new RegExp(
      `^\\W{0,4}(?:please,? )?(?:enter|type|input|provide|specify|choose|select|pick)\\b[^:?]{0,120}${default_}\\s*[:?>]$`,
      'iu',
    ),
    /^(?:what|which|who|where|how many|how much|how should|when)\b.{2,120}\?$/i,
    // Country Name (2 letter code) [AU]:   Organization Name (eg, company) []:   AWS Access Key ID [None]:
    /^\W{0,4}[a-z][\w .,'/()-]{1,80} \[(?![=#>.\s-]+\]|\d+%?\])[^\]]{0,60}\]\s*:$/i,
    // keytool, on a line of its own
    /^\[Unknown\]:$/,
    // npm init
    /^(?:package name|version|description|entry point|test command|git repository|keywords|author|license|type):(?:\s*\([^)]*\))?$/,
    // inquirer, prompts, survey, clack: "? Project name: ›", "? Pick one [Use arrows to move]"
    /^[?◆❔] \S.{0,200}[:?›»❯)\]>].{0,80}$/u,
  ],
  'for a command': [
    /^(?:>|\$|#\?|>>>|\(gdb\)|\(lldb\)|\(Pdb\+*\)|ipdb>|In \[\d+\]:|irb\(.{1,40}\):\S*[>*])$/,
    /^[a-z][\w.:@-]{0,40}(?:>|=[#>]|-[#>])$/i,
    /^\d{1,3}(?:\.\d{1,3}){3}:\d+>$/,
  ],
};

/** The forms of questions, the likely ones first. */
export const questionForms: readonly QuestionForm[] = Object.entries(forms).flatMap(([asks, all]) =>
  all.map((form) => ({ asks, form })),
);

/** What menus that are driven with the arrow keys say; the choices stand below it. */
export const menuHint =
  /use (?:the )?arrows?(?:[ -]keys?)?|arrow[ -]keys|press <?space>? to (?:select|toggle)|return to submit|enter to (?:select|confirm|submit)/i;
