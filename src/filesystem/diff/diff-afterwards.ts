import { unifiedDiff, type UnifiedDiff } from './unified-diff.ts';

const unshowable: UnifiedDiff = {
  text: 'The difference cannot be shown.\n',
  added: 0,
  removed: 0,
  truncated: true,
};

/** The difference of what has been changed already: that it cannot be shown must not make it look undone. */
export const diffAfterwards = (...given: Parameters<typeof unifiedDiff>): Promise<UnifiedDiff> =>
  unifiedDiff(...given).catch(() => unshowable);
