import git from '../../discoverers/git/git.ts';
import { compositeTool } from './composite-tool.ts';

export default compositeTool(git, {
  action: 'sync',
  title: 'Sync with a git remote',
  description: 'git fetch, pull or push; push never forces.',
  hint: 'fetch, pull, push to a remote',
  does: {
    fetch: 'fetch',
    pull: 'pull',
    push: 'push',
  },
  takes: {
    remote: 'fetch, push: origin when left out',
    branch: 'push: branch or tag; the current one when left out',
    set_upstream: 'push: make it the upstream',
    how: 'pull: fast_forward, rebase or merge when both have changed',
  },
});
