import type { AuditFacts } from '../../../../kernel/audit/audit-record.js';
import type { ExportedRow } from './export.sql.js';

/** Names in order: what the database has of an object has none. */
const inOrder = (facts: AuditFacts): AuditFacts =>
  Object.fromEntries(Object.entries(facts).sort(([one], [other]) => (one < other ? -1 : 1)));

/** The line of an event, without a line break. The same bytes whenever it is exported: checkpoints sign them. */
export const eventLine = (row: ExportedRow): string =>
  JSON.stringify({
    type: 'event',
    id: row.id,
    organizationId: row.organizationId,
    projectId: row.projectId,
    occurredAt: row.occurredAt.toISOString(),
    class: row.class,
    action: row.action,
    subjectId: row.subjectId,
    outcome: row.outcome,
    actorKind: row.actorKind,
    actorId: row.actorId,
    tokenId: row.tokenId,
    requestId: row.requestId,
    address: row.address,
    userAgent: row.userAgent,
    facts: inOrder(row.facts),
    disclosed: row.disclosed,
  });

/** The secrets behind a digest in `disclosed`. They prove themselves: the digest is that of the ids. */
export const secretsLine = ({ digest, ids }: { readonly digest: string; readonly ids: readonly string[] }): string =>
  JSON.stringify({ type: 'secrets', digest, ids });

/** Where an export can be continued, and whether it has come to the end of what is settled. */
export const cursorLine = (cursor: string, isEnd: boolean): string => JSON.stringify({ type: 'cursor', cursor, isEnd });

/** Why an export has ended early. */
export const errorLine = (code: string): string => JSON.stringify({ type: 'error', code });
