import { readFileSync } from 'node:fs';
import Sequencer from '@jest/test-sequencer';

/** Suites that take half a minute or more: one that began last would run alone while the other workers have nothing left. */
const LONG = [
  'features/error-table.test.ts',
  'features/replies/every-change-once.all.test.ts',
  'features/replies.test.ts',
  'features/plans/plans.test.ts',
  'features/plans/pages.test.ts',
  'features/plans/patterns.test.ts',
  'features/plans/search.test.ts',
  'features/attention/failures.all.test.ts',
  'features/secret-rotations/kinds-contract.all.test.ts',
  'features/secret-rotations/fault-matrix.all.test.ts',
  'features/secret-rotations/killed.all.test.ts',
  'features/secret-rotations/stuck.all.test.ts',
  'features/identities/platform-outages.all.test.ts',
  'features/identities/platform-refusals.all.test.ts',
  'kernel/jobs/store.all.test.ts',
  'features/secret-rotations/hostos-local-account/accounts.all.test.ts',
  'features/secret-rotations/hostos-local-account/owners.all.test.ts',
  'features/alert-deliveries/notifying.all.test.ts',
  'features/start/refusals.test.ts',
  'features/start/start.test.ts',
  'features/start/watchdog.test.ts',
  'features/start/pooler-transactions.test.ts',
  'features/start/service-role.test.ts',
  'features/database-lost.all.test.ts',
  'features/gateway/no-echo.all.test.ts',
  'features/gateway/composition.all.test.ts',
  'features/gateway/cursors-of-lists.all.test.ts',
  'faults/every-check-once.test.ts',
  'browser/accessibility.test.ts',
  'browser/explorer.test.ts',
  'browser/reference.test.ts',
  'clients/openapi-generator.test.ts',
  'kernel/embedded-postgres.test.ts',
  'features/strangers.test.ts',
  'features/hidden.test.ts',
  'features/audit-trail.test.ts',
  'browser/console-actions.test.ts',
  'browser/console-attacks.test.ts',
  'browser/console-outages.test.ts',
  'browser/console-project.test.ts',
  'browser/console.test.ts',
  'features/gateway/contract.test.ts',
  'features/identities/kubernetes-logins.all.test.ts',
  'features/identities/oidc-logins.all.test.ts',
  'features/plans/counts.test.ts',
  'features/start/away.test.ts',
  'features/start/backup.test.ts',
  'features/start/database-killed.test.ts',
  'features/alert-deliveries/unsent.all.test.ts',
  'features/gateway/compression.all.test.ts',
];
const LONG_MS = 20_000;
/** Where the last run on this machine is not known: a minute for these, and the others run about as slowly as they read. */
const EXPECTED_MS = { long: 60_000, perByte: 0.4 };

const isLong = ({ path }) => LONG.some((long) => path.endsWith(`/test/${long}`));

/** How long a suite is expected to take, in milliseconds. */
export const expectedMs = (test) =>
  test.duration ?? (isLong(test) ? EXPECTED_MS.long : sizeOf(test) * EXPECTED_MS.perByte);

const sizeOf = ({ path, context }) => context.hasteFS.getSize(path);

/** The suites of this run, for whoever tells how much is left. */
export let suites = [];

/** Settings of the service that a suite shares; a worker goes from group to group, and starts a service for each only once. */
const groupOf = ({ path }) => /\buse(?:Shared|Moved)Strongroom\(.*/.exec(readFileSync(path, 'utf8'))?.[0] ?? '';

/** What failed in the last run comes first, then the long suites, then the others: both by the service that they share, the longest first. */
export default class Order extends Sequencer {
  sort(tests) {
    const rankOf = (test) => {
      if (this.hasFailed(test)) return 0;
      return test.duration > LONG_MS || isLong(test) ? 1 : 2;
    };
    const sorted = super.sort(tests).map((test) => ({ test, rank: rankOf(test), group: groupOf(test) }));
    suites = sorted
      .toSorted((a, b) => a.rank - b.rank || (a.rank > 0 ? a.group.localeCompare(b.group) : 0))
      .map(({ test }) => test);
    return suites;
  }
}
