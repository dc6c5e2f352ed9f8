import { replaceMarks } from '../../../kernel/access-cache/access-changes.sql.js';
import { NO_ID } from '../../../kernel/ids.js';
import type { JobKind } from '../../../kernel/jobs/job-kind.js';
import { deleteEnded, deleteExpiredLoginTokens } from './token-family.sql.js';

const DAY_SECONDS = 86_400;
/** So long it is still listed, and a request with it is told why it is refused. */
const KEPT_DAYS = 30;
const TOKENS_AT_ONCE = 2_000;
const USED_AT_ONCE = 10_000;

/** Deletes tokens that nobody can use any more: a login makes one each time. */
export const ENDED_TOKENS_JOB: JobKind = {
  name: 'access:delete-ended-tokens',
  description: `Deletes access tokens that expired or were revoked more than ${KEPT_DAYS} days ago.`,
  everySeconds: DAY_SECONDS,
  staysInside: true,
  concurrency: 1,
  run: async (_, run) => {
    for (let deleted = USED_AT_ONCE; deleted === USED_AT_ONCE; )
      deleted = await run.inTransaction(
        async (tx) => (await deleteExpiredLoginTokens(tx, { most: String(USED_AT_ONCE) })).length,
      );
    for (let after: string | null = NO_ID; after !== null; ) {
      const from: string = after;
      after = await run.inTransaction(async (tx) => {
        const [found] = await deleteEnded(tx, { days: KEPT_DAYS, after: from, most: String(TOKENS_AT_ONCE) });
        const organizationIds = found?.organizationIds ?? [];
        for (const organizationId of new Set(organizationIds))
          await tx.auditTrail.recordChange(
            { ...tx, organizationId },
            {
              action: 'access-token:delete-ended',
              facts: { tokenCount: organizationIds.filter((each) => each === organizationId).length },
            },
          );
        return found?.seenCount === TOKENS_AT_ONCE ? found.last : null;
      });
    }
  },
};

const HOUR_SECONDS = 3_600;

/** Deletes the marks that changes of access have left. A node that has not seen them yet finds the one that is left in their place. */
export const ACCESS_CHANGES_JOB: JobKind = {
  name: 'access:delete-change-marks',
  description: 'Deletes the marks by which nodes notice changes of access.',
  everySeconds: HOUR_SECONDS,
  staysInside: true,
  concurrency: 1,
  run: async (_, run) => {
    await run.inTransaction((tx) => replaceMarks(tx, {}));
  },
};
