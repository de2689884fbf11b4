import git from '../../discoverers/git/git.ts';
import { compositeTool } from './composite-tool.ts';

// Each is asked whether it is in progress. The rebase comes first, as it leaves the marks of a cherry-pick,
// too.
const inProgress = ['rebase', 'merge', 'cherry_pick', 'revert'];

export default compositeTool(git, {
  action: 'integrate',
  title: 'Integrate commits in git',
  description:
    'git merge, rebase, cherry-pick, revert; continue, skip, abort. Conflicts come back with both sides.',
  hint: 'merge, rebase, cherry-pick, revert, resolve conflicts',
  does: {
    merge: 'merge',
    rebase: 'rebase',
    cherry_pick: 'cherry_pick',
    revert: 'revert',
    continue: { first: inProgress, with: { step: 'continue' } },
    skip: { first: inProgress, with: { step: 'skip' } },
    abort: { first: inProgress, with: { step: 'abort' } },
  },
  takes: {
    branch: 'merge, rebase: branch or commit',
    commits: 'cherry_pick, revert: commits, oldest first',
    paths: 'continue: mended files, staged first',
  },
});
