import { replied, type Tool } from '../toolbox/tool.ts';
import { ownTool } from './own-tool.ts';

export interface Found {
  readonly session: string;
  readonly when: string;
  readonly role: string;
  readonly excerpt: string;
}

/** Lets the model look through earlier conversations of this project. */
export const searchSessionsTool = (search: (query: string) => Promise<readonly Found[]>): Tool =>
  ownTool({
    name: 'search_sessions',
    description: 'Full-text search over earlier conversations of this project: all words have to occur.',
    properties: { query: { type: 'string', minLength: 2 } },
    required: ['query'],
    async call({ query }) {
      const found = await search(String(query));
      if (found.length === 0) return replied('Nothing was found.');
      return replied(
        found.map(({ session, when, role, excerpt }) => `${when} ${session} ${role}: ${excerpt}`).join('\n'),
      );
    },
  });
