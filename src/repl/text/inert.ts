/**
 * Nobody sees it. It stands in the text itself, so that it goes wherever that goes: the history, the queue, an
 * editor.
 */
const mark = '\ufe0e';

/** Text that somebody else wrote: no @ of it names anything. */
export const inert = (text: string): string => live(text).replaceAll('@', `@${mark}`);

/** The text as it was before. */
export const live = (text: string): string => text.replaceAll(`@${mark}`, '@');
