import git from '../../discoverers/git/git.ts';
import { compositeTool } from './composite-tool.ts';

// The act that is under way is found by asking each; a rebase leaves the marks of a cherry-pick, too.
const underWay = ['rebase', 'merge', 'cherry_pick', 'revert'];

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
    continue: { first: underWay, with: { step: 'continue' } },
    skip: { first: underWay, with: { step: 'skip' } },
    abort: { first: underWay, with: { step: 'abort' } },
  },
  takes: {
    branch: 'merge, rebase: branch or commit',
    commits: 'cherry_pick, revert: commits, oldest first',
    paths: 'continue: mended files, staged first',
  },
});
