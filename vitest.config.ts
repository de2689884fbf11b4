import { defineConfig } from 'vitest/config';

const slow = 'test/**/*.slow.test.ts';

// `npm test` is the quick tier, `npm run test:all` both: see CONTRIBUTING.md.
export default defineConfig({
  test: {
    setupFiles: ['test/support/own-state.ts'],
    // A hang is a failure, slowness is not: nothing here needs a quiet machine.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
    pool: 'forks',
    maxWorkers: 2,
    projects: [
      { extends: true, test: { name: 'quick', include: ['test/**/*.test.ts'], exclude: [slow] } },
      { extends: true, test: { name: 'slow', include: [slow] } },
      // Installs programs: `npm run test:programs`.
      { extends: true, test: { name: 'programs', include: ['test/programs/*.trial.ts'] } },
      // Under Wine: `npm run test:windows`.
      { extends: true, test: { name: 'windows', include: ['test/windows/*.trial.ts'] } },
    ],
  },
});
