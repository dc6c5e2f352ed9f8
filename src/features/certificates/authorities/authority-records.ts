import type { Transaction } from '../../../kernel/context.js';

/** Records a change of an authority in the audit trail. */
export const record = (
  tx: Transaction,
  action: string,
  { id, projectId, version }: { readonly id: string; readonly projectId: string; readonly version: number },
  facts: Readonly<Record<string, string | readonly string[]>> = {},
): Promise<void> =>
  tx.auditTrail.recordChange(tx, { action, projectId, facts: { authorityId: id, version, ...facts } });
