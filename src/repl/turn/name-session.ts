import type { Chat } from '../chat.ts';
import { printable } from '../terminal/printable.ts';
import { summarise } from './shorten.ts';

const longest = 60;
const beginsWith = 'A conversation begins with this text; it is only to be named, not to be answered:';

/**
 * Lets the model name a session that has no name yet, in the background. Gives up silently: the first line does as
 * well.
 */
export async function nameSession(chat: Chat, signal: AbortSignal): Promise<void> {
  const { session, world } = chat;
  if (!world.config.nameSessions || session.file === undefined || session.name !== undefined) return;
  const first = session.path().find(({ type }) => type === 'user');
  if (first?.type !== 'user' || !first.typed) return;
  const { smallModel } = world.config;
  const request = {
    system: 'You name conversations. Answer with a title of two to six words and nothing else.',
    text: `${beginsWith}\n\n${first.typed.slice(0, 2000)}`,
    maxTokens: 200,
  };
  try {
    const provider = smallModel === undefined ? chat.provider : world.providerFor(world.modelOf(smallModel));
    const name =
      printable(await summarise({ provider }, request, signal))
        .split('\n')[0]
        ?.replace(/^["'#\s]+|["'.\s]+$/g, '') ?? '';
    if (name !== '' && name.length <= longest && session.name === undefined)
      session.append({ type: 'name', name, by: 'model' });
  } catch {
    // No name is worth a message.
  }
}
