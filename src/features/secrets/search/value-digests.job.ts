import type { Context } from '../../../kernel/context.js';
import { keyIdOf } from '../../../kernel/crypto/seal.js';
import { openedOrNull } from '../../../kernel/crypto/sealed-text.js';
import { queryOf } from '../../../kernel/database/database.js';
import { yieldToEventLoop } from '../../../kernel/event-loop.js';
import { NO_ID } from '../../../kernel/ids.js';
import type { JobKind, JobRun } from '../../../kernel/jobs/job-kind.js';
import { digestOf } from '../core/secret-sealing.js';
import { DIGESTED_TABLES, type DigestedTable, type UndigestedValue } from './value-digests.sql.js';

const DAY_SECONDS = 86_400;

/** Gives a digest to values that were written before values of their table had one, so that searches for a value find them. */
export const VALUE_DIGESTS_JOB: JobKind = {
  name: 'secrets:digest-values',
  description: 'Makes values that former versions wrote searchable, daily. Without such values it does nothing.',
  everySeconds: DAY_SECONDS,
  staysInside: true,
  run: async (ctx, run) => {
    for (const table of DIGESTED_TABLES) await digestAll(ctx, run, table);
  },
};

async function digestAll(ctx: Context, run: JobRun, table: DigestedTable): Promise<void> {
  let after = { afterProjectId: NO_ID, afterId: NO_ID, afterPart: -1 };
  for (;;) {
    if (run.signal.aborted) return;
    const values = await table.next(ctx, after);
    const last = values.at(-1);
    if (last === undefined) return;
    after = { afterProjectId: last.projectId, afterId: last.id, afterPart: last.part };
    for (const [organizationId, own] of Map.groupBy(values, (value) => value.organizationId))
      await digestSome(run, table, { organizationId, values: own });
  }
}

async function digestSome(
  run: JobRun,
  table: DigestedTable,
  { organizationId, values }: { readonly organizationId: string; readonly values: readonly UndigestedValue[] },
): Promise<void> {
  await run.inTransaction(async (tx) => {
    const keyIds = Map.groupBy(values, ({ projectId }) => projectId);
    const sealers = await tx.keyring.sealers(
      queryOf(tx),
      organizationId,
      new Map([...keyIds].map(([projectId, own]) => [projectId, own.map(({ sealed }) => keyIdOf(sealed))])),
    );
    const ofOrganization = await tx.keyring.sealer(queryOf(tx), { organizationId, projectId: null });
    const stored: { value: UndigestedValue; digest: Buffer }[] = [];
    for (const value of values) {
      const ofProject = sealers.get(value.projectId);
      const place = {
        table: table.sealed.place ?? table.sealed.table,
        column: 'value',
        rowId: value.id,
        rowVersion: value.version,
      };
      // What does not open, or only once its key is enabled again, stays as it is: searches say that they are not complete.
      const digest = openedOrNull(
        () =>
          ofProject === undefined ? null : digestOf({ ofProject, ofOrganization }, ofProject.open(place, value.sealed)),
        { withDisabledKeys: true },
      );
      if (digest !== null) stored.push({ value, digest });
      await yieldToEventLoop();
    }
    await table.store(tx, {
      ids: stored.map(({ value }) => value.id),
      parts: stored.map(({ value }) => value.part),
      sealed: stored.map(({ value }) => value.sealed),
      digests: stored.map(({ digest }) => digest),
    });
  }, run.contextOf(organizationId));
}
