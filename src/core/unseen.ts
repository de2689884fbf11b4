/**
 * Characters that are not seen, or seen as something else, by Unicode's properties and not by a list:
 * controls, formats, halves, what has no look or no meaning here, what may be ignored, blanks other than the
 * usual one. The last three are blank though they pass for symbols and letters.
 */
export const unseen =
  /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800\u{16fe4}\u{1d159}]|(?! )\p{Zs}/gu;

/** Pictures, with the selectors and joiners that they are made with; keycaps. */
const picture = String.raw`\p{Extended_Pictographic}[\ufe0e\ufe0f]?\p{Emoji_Modifier}?`;
const emoji = new RegExp(String.raw`${picture}(?:\u200d${picture})*|[\d#*]\ufe0f\u20e3`, 'gu');

/** True for a name with such characters elsewhere than in its emoji. */
export const hasUnseen = (name: string): boolean =>
  name.search(unseen) >= 0 && name.replaceAll(emoji, '').search(unseen) >= 0;

/** A character by its number, as `\u{202e}`. */
export const byNumber = (character: string): string => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
