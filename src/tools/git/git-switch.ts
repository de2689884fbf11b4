import git from '../../discoverers/git/git.ts';
import { compositeTool } from './composite-tool.ts';

export default compositeTool(git, {
  action: 'switch',
  title: 'Switch git branch',
  description:
    'Switch to a git branch (checkout); create, rename, delete one; track a remote one; detach at a commit.',
  hint: 'switch, create, rename, delete a branch',
  does: {
    switch: 'checkout',
    create: 'create_branch',
    rename: 'rename_branch',
    delete: 'delete_branch',
    track: 'set_upstream',
    detach: { first: ['checkout'], with: { detach: true } },
  },
  takes: {
    branch: 'Branch: fix/rounding; detach: a commit',
    start: 'create: where it starts; HEAD when left out',
    to: 'rename: the new name',
    upstream: 'track: origin/main',
  },
});
