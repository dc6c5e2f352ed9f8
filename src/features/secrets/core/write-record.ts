import type { AuditEvent } from '../../../kernel/audit/audit-record.js';
import { disclosureOf } from '../../../kernel/audit/disclosure.js';
import type { Transaction } from '../../../kernel/context.js';
import type { ProjectAccess } from '../../projects/public.js';
import { type SecretView, shownIn } from './secret.view.js';
import type { WriteTarget } from './write-target.js';

/** Details of the audit record of a write besides location and secrets. */
export type WriteFacts = Readonly<Record<string, string | number>>;

/** A write of secrets in a folder, for the audit trail. */
interface RecordedWrite {
  readonly action: string;
  readonly ids: readonly string[];
  readonly facts?: WriteFacts | undefined;
  /** The secrets of the response. */
  readonly shown?: readonly SecretView[];
}

type Written = Pick<WriteTarget, 'environmentId' | 'folderId'> & { readonly project: Pick<ProjectAccess, 'projectId'> };

/** The event of a write of secrets in a folder. */
export const writeEvent = (
  { project, environmentId, folderId }: Written,
  { action, ids, facts = {}, shown = [] }: RecordedWrite,
): AuditEvent => ({
  action,
  projectId: project.projectId,
  facts: { environmentId, folderId, count: ids.length, secretIds: ids, ...facts },
  disclosed: disclosureOf(shownIn(shown)),
});

/** The audit record of a write of secrets in a folder. */
export const recordWrite = (tx: Transaction, target: Written, write: RecordedWrite): Promise<void> =>
  tx.auditTrail.recordChange(tx, writeEvent(target, write));
