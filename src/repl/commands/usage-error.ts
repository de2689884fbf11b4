import { ChatError } from '../errors.ts';

/** A command that was not understood: what was wrong and how it is written. */
export const wrongUse = (text: string): ChatError => new ChatError('USAGE', text);

/** The words of what follows a command. */
export const wordsOf = (args: string): string[] => args.split(/\s+/).filter((word) => word !== '');
