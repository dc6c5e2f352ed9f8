import { existsSync } from 'node:fs';
import { join } from 'node:path';
import Sequencer from '@jest/test-sequencer';

/** Suites that take twenty seconds or more. One that began last would run alone while the other workers have nothing left. */
const LONG = [
  'test/features/error-table.test.ts',
  'test/features/replies/every-change-once.test.ts',
  'test/features/start/refusals.test.ts',
  'test/features/gateway/no-echo.test.ts',
  'test/features/gateway/persisted-documents.test.ts',
  'test/faults.test.ts',
  'test/features/start/start.test.ts',
  'test/features/audit-seals.test.ts',
  'test/browser/explorer.test.ts',
  'test/browser/reference.test.ts',
  'test/kernel/embedded-postgres.test.ts',
  'test/features/start/database-killed.test.ts',
  'test/features/start/stopping.test.ts',
  'test/features/replies.test.ts',
  'test/features/gateway/rate-limits-nodes.test.ts',
  'test/features/canary.test.ts',
  'test/features/gateway/composition.test.ts',
  'test/kernel/schema-responses.test.ts',
  'test/features/strangers.test.ts',
  'test/features/gateway/garbage.test.ts',
  'test/features/hidden.test.ts',
  'test/features/replies/under-load.test.ts',
  'test/features/gateway/response-size.test.ts',
  'test/features/secrets/model/model.test.ts',
  'test/features/audit-trail.test.ts',
];

/** The known long suites first, then as jest does: by the time of the last run on this machine, or else by size. */
export default class LongestFirst extends Sequencer {
  sort(tests) {
    const rankOf = ({ path, context }) => {
      const rank = LONG.indexOf(path.slice(context.config.rootDir.length + 1));
      return rank === -1 ? LONG.length : rank;
    };
    for (const { context } of tests.slice(0, 1)) {
      const missing = LONG.filter((path) => !existsSync(join(context.config.rootDir, path)));
      if (missing.length > 0) throw new Error(`test/kit/longest-first.mjs names files that do not exist: ${missing}`);
    }
    return super.sort(tests).toSorted((a, b) => rankOf(a) - rankOf(b));
  }
}
