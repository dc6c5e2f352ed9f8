import { createSecretKey, randomUUID } from 'node:crypto';
import { insertOf, type NewRecord } from '../../src/kernel/audit/audit-record.ts';
import { openInstallationKeys } from '../../src/kernel/crypto/installation.ts';
import { parseRootKey } from '../../src/kernel/crypto/root-key.ts';
import { RootKeys } from '../../src/kernel/crypto/root-keys.ts';
import type { Query } from '../../src/kernel/database/database.ts';
import type { SharedStrongroom } from './shared-strongroom.ts';

/** What a record tells; the rest is as of an allowed event that nobody's request caused. */
type Told = Pick<NewRecord, 'organizationId' | 'action'> & Partial<NewRecord>;

const REST: Omit<NewRecord, 'id' | 'organizationId' | 'action' | 'actorId' | 'requestId'> = {
  ...{ projectId: null, tokenId: null, address: null, userAgent: null, disclosed: null, class: null, subjectId: null },
  ...{ outcome: 'allowed' as const, actorKind: 'system', facts: {}, keptDays: null },
};

/** Stores records of the audit trail as the service does, so that it stays whole: for more of them than requests can cause. */
export async function addAuditRecords(
  strongroom: Pick<SharedStrongroom, 'sql' | 'rootKey'>,
  records: readonly Told[],
): Promise<void> {
  const query = ((text: string, params?: unknown[]) => strongroom.sql(text, params)) as Query;
  const keys = await openInstallationKeys(query, new RootKeys(parseRootKey(strongroom.rootKey)));
  const ids = () => ({ id: randomUUID(), actorId: randomUUID(), requestId: randomUUID() });
  const { text, params } = insertOf(
    records.map((told) => ({ ...REST, ...ids(), ...told })),
    { key: createSecretKey(keys.macKey('audit')), changed: 'nothing', disclosures: [] },
  );
  await strongroom.sql(text, params);
}
