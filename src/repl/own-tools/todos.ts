import type { Todo } from '../session/entry.ts';
import { replied, type Tool } from '../toolbox/tool.ts';
import { ownTool } from './own-tool.ts';

/** Lets the model keep a list of what is to be done, which the person sees. */
export const writeTodos = (keep: (todos: readonly Todo[]) => void): Tool =>
  ownTool({
    name: 'write_todos',
    description:
      'Replaces the list of what is to be done, for work of three steps or more. One item is in_progress at a time.',
    properties: {
      todos: {
        type: 'array',
        maxItems: 50,
        items: {
          type: 'object',
          properties: {
            text: { type: 'string', maxLength: 200 },
            status: { enum: ['pending', 'in_progress', 'completed'] },
            priority: { enum: ['high', 'medium', 'low'] },
          },
          required: ['text', 'status'],
          additionalProperties: false,
        },
      },
    },
    required: ['todos'],
    async call({ todos }) {
      const list = (todos as (Omit<Todo, 'priority'> & Partial<Todo>)[]).map((todo) => ({
        priority: 'medium' as const,
        ...todo,
      }));
      keep(list);
      const open = list.filter(({ status }) => status !== 'completed').length;
      return replied(`Kept: ${list.length} items, ${open} of them open.`);
    },
  });
