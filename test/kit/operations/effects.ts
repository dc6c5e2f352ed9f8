import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { QueryResultRow } from 'pg';
import type { Caller, Reply } from '../caller.js';
import type { SharedStrongroom } from '../shared-strongroom.js';
import { CANARY, type World } from '../world.js';
import type { Operation } from './operation.js';

const { paths } = JSON.parse(readFileSync(join(import.meta.dirname, '../../../schema/openapi.json'), 'utf8'));

/** Changes that can be sent again with a key: all mutations, and REST routes that the API reference says it of. */
export const takesKey = ({ name, changes }: Operation): boolean => {
  const [method = '', path = ''] = name.split(' ');
  if (!changes || method === 'mutation') return changes;
  const { parameters } = paths[path][method.toLowerCase()] as { parameters: { $ref?: string }[] };
  return parameters.some(({ $ref }) => $ref === '#/components/parameters/IdempotencyKey');
};

/** What schedules leave in the trail of every organization, whatever is done there: a checkpoint at each hour. */
const OF_SCHEDULES = ['audit-checkpoint:create'];

/**
 * Rows that the audit trail gained while `work` ran, whatever request made them. Jobs of other organizations leave some at any time: those
 * of former tests; and so do schedules.
 */
export async function rowsOf(
  strongroom: SharedStrongroom,
  work: () => Promise<Reply>,
): Promise<{ reply: Reply; rows: QueryResultRow[] }> {
  const [last] = await strongroom.sql<{ sequence: string }>(
    'select coalesce(max(sequence), 0) as sequence from audit_record',
  );
  const reply = await work();
  const rows = await strongroom.auditRows('sequence > $1', [last?.sequence]);
  const ofRequests = rows.filter(({ actor_kind }) => actor_kind !== 'system');
  const organizations = new Set(ofRequests.map(({ organization_id }) => organization_id));
  const isExpected = ({ actor_kind, action, organization_id }: QueryResultRow): boolean =>
    actor_kind !== 'system' || (organizations.has(organization_id) && !OF_SCHEDULES.includes(action));
  return { reply, rows: rows.filter(isExpected) };
}

/** Actions of requests that are sent as changes, for their bodies, and only read or try. */
const READS =
  /^(access-token:get|certificate:export-pkcs12|certificate-alert:preview|project:copy-dry-run|project-membership:get|secret:find-value|secret-rotation:(check|preview))$/;
/** Of a change of many things, or of none: the request of the table finds nothing to restore. */
const OF_MANY = /^(secret:restore-state|notification-message:retry-messages)$/;

const classOf = ({ changes, audit }: Operation, row: QueryResultRow | undefined): string => {
  if (changes && !READS.test(audit)) return 'change';
  return row?.disclosed === null ? 'browse' : 'value-read';
};

/** It was done, and left one row in the audit trail, of its caller and without values, and no others than it says. */
export function expectOneRow(
  { reply, rows }: { readonly reply: Reply; readonly rows: readonly QueryResultRow[] },
  operation: Operation,
  { world, admin }: { readonly world: World; readonly admin: Caller },
): void {
  expect(reply.status === 200 && reply.body?.errors === undefined ? 'done' : reply.text).toBe('done');
  const { alsoLeaves = [], leavesLater = [], looksUp } = operation;
  const others = rows.map(({ action }) => action).filter((action) => action !== operation.audit);
  const own = rows.filter(({ action }) => action === operation.audit);
  expect(others.filter((action) => !leavesLater.includes(action))).toEqual([
    ...(looksUp === undefined ? [] : [looksUp]),
    ...alsoLeaves,
  ]);
  expect(own).toHaveLength(1);
  expect(own[0]).toMatchObject({
    action: operation.audit,
    outcome: 'allowed',
    organization_id: world.organization,
    actor_kind: 'identity',
    actor_id: operation.actor === 'identity' ? world.identity : admin.identityId,
    request_id: reply.headers['x-request-id'],
    class: classOf(operation, own[0]),
    ...(operation.things.includes('project') ? { project_id: world.project } : {}),
  });
  // Other changes of many things are sent with one.
  const hasSubject = operation.changes && !READS.test(operation.audit) && !OF_MANY.test(operation.audit);
  expect(own[0]?.subject_id).toEqual(hasSubject ? expect.stringMatching(/^[0-9a-f-]{36}$/) : null);
  expect(JSON.stringify(rows)).not.toContain(CANARY);
  expect(JSON.stringify(rows)).not.toMatch(/sr[ts]_/);
}
