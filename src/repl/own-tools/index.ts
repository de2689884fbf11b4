import type { Chat } from '../chat.ts';
import { searchSessions } from '../session/search.ts';
import type { Tool } from '../toolbox/tool.ts';
import { askUser } from './ask-user.ts';
import { exitPlan } from './exit-plan.ts';
import type { Dialog } from './own-tool.ts';
import { recall } from './recall.ts';
import { searchSessionsTool } from './search-sessions.ts';
import { subAgent } from './sub-agent.ts';
import { writeTodos } from './todos.ts';

/** The few tools the REPL has itself: they talk to the person, or to the session. */
export function ownTools(chat: Chat, dialog: Dialog | undefined): readonly Tool[] {
  return [
    ...(dialog ? [askUser(dialog)] : []),
    exitPlan(dialog, (mode) => chat.useMode(mode)),
    recall(() => chat.session.path(), chat.load),
    subAgent(() => chat),
    searchSessionsTool(async (query) => {
      const { found } = await searchSessions(chat.world.store, query, { limit: 20 });
      return found.map(({ session, role, excerpt }) => ({
        session: session.name,
        when: session.modified.slice(0, 10),
        role,
        excerpt,
      }));
    }),
    writeTodos((todos) => void chat.session.append({ type: 'todos', todos })),
  ];
}
