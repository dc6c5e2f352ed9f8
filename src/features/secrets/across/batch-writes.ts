import type { AuditEvent } from '../../../kernel/audit/audit-record.js';
import type { Transaction } from '../../../kernel/context.js';
import { mapYielding } from '../../../kernel/event-loop.js';
import { sealedRow, writtenRecord } from '../core/next-version.js';
import { lockProjects } from '../core/secret.queries.js';
import { type SecretView, SecretViewer, writtenView } from '../core/secret.view.js';
import { reserveRows } from '../core/secret-read-limits.js';
import { sealerFor } from '../core/secret-sealing.js';
import { updateSecrets } from '../core/secret-writes.js';
import { type WriteFacts, writeEvent } from '../core/write-target.js';
import { rewriteReferencesTo } from '../references/reference-writes.js';
import { Visibility } from '../scope/visibility.rules.js';
import type { Difference } from '../versions/version.rules.js';
import type { PlannedChange, ProjectPlan } from './batch-plan.js';

/** The changes of one secret of a batch. */
export interface SecretChanges {
  /** After the change; for a preview as it is, without its value. */
  readonly view: SecretView;
  readonly versionBefore: number;
  readonly differences: readonly Difference[];
}

/** Result of a batch. */
export interface BatchResult {
  readonly isDryRun: boolean;
  /** In the order of the batch. */
  readonly changed: readonly SecretChanges[];
  /** Other secrets whose references were updated, as far as the caller may read them. */
  readonly rewritten: number;
}

/** The changes of a batch, and what its caller sees of them. */
type Shown = [secret: PlannedChange, view: SecretView];

/**
 * Writes the plan, with the audit records: one for each folder.
 *
 * @throws SECRET_KEY_TAKEN, SECRET_REFERENCED, REFERENCES_TOO_LONG, SEALED_VALUE_INVALID, CONCURRENT_CHANGE,
 * AUDIT_UNAVAILABLE
 */
export async function writeBatch(
  tx: Transaction,
  plans: readonly ProjectPlan[],
  { action, facts }: { action: string; facts?: WriteFacts },
): Promise<BatchResult> {
  const shown: Shown[] = [];
  let rewritten = 0;
  for (const plan of plans) {
    shown.push(...(await writeIn(tx, plan)));
    rewritten += await rewriteReferencesTo(tx, plan.project, plan.renamings, { except: idsOf(plan.planned) });
  }
  if (shown.length > 0) {
    await lockProjects(tx, { ids: plans.map(({ project }) => project.projectId) });
    await tx.auditTrail.recordChange(tx, ...eventsOf(shown, { action, facts }));
  }
  return outcomeOf(shown, { isDryRun: false, rewritten });
}

/** Previews `writeBatch`: writes nothing but the audit records of the reads. */
export async function previewBatch(
  tx: Transaction,
  plans: readonly ProjectPlan[],
  { action, facts }: { action: string; facts?: WriteFacts },
): Promise<BatchResult & { readonly reads: readonly AuditEvent[] }> {
  const shown: Shown[] = [];
  let rewritten = 0;
  for (const { project, opener, planned, renamings } of plans) {
    const viewer = new SecretViewer(opener, new Visibility(project.ability), false);
    shown.push(...(await mapYielding(planned, (secret): Shown => [secret, viewer.view(secret.record)])));
    rewritten += await rewriteReferencesTo(tx, project, renamings, { except: idsOf(planned), isDryRun: true });
  }
  return { ...outcomeOf(shown, { isDryRun: true, rewritten }), reads: eventsOf(shown, { action, facts }) };
}

async function writeIn(tx: Transaction, { project, planned }: ProjectPlan): Promise<Shown[]> {
  const sealer = await sealerFor(tx, project, planned.length);
  const rows = await mapYielding(planned, ({ next }) => ({
    ...sealedRow(sealer, next.attributes, next.clear),
    renewsAge: next.renewsAge,
  }));
  const written = await updateSecrets(tx, project, rows);
  const times = new Map(written.map((row) => [row.id, row]));
  const records = rows.flatMap((row, at) => {
    const { record, tags } = planned[at] as PlannedChange;
    const { environment, path } = record;
    const own = times.get(row.id);
    return own === undefined ? [] : [writtenRecord(tx, row, own, { project, environment, path, tags })];
  });
  const visibility = new Visibility(project.ability);
  await reserveRows(tx, records, (record) => visibility.readsValue(record));
  const view = writtenView(visibility);
  return mapYielding(records, (record, at): Shown => [planned[at] as PlannedChange, view(record)]);
}

const idsOf = (planned: readonly PlannedChange[]): ReadonlySet<string> =>
  new Set(planned.map(({ record }) => record.id));

const outcomeOf = (
  shown: readonly Shown[],
  { isDryRun, rewritten }: { isDryRun: boolean; rewritten: number },
): BatchResult => ({
  isDryRun,
  changed: shown
    .toSorted(([a], [b]) => a.index - b.index)
    .map(([{ record, differences }, view]) => ({ view, versionBefore: record.version, differences })),
  rewritten,
});

/** One event for each folder. */
function eventsOf(
  shown: readonly Shown[],
  { action, facts }: { action: string; facts: WriteFacts | undefined },
): AuditEvent[] {
  return [...Map.groupBy(shown, ([{ record }]) => record.folderId).values()].map((secrets) => {
    const [{ project, record }] = secrets[0] as Shown;
    const views = secrets.map(([, view]) => view);
    const ids = views.map(({ id }) => id);
    return writeEvent({ project, ...record }, { action, ids, facts, shown: views });
  });
}
