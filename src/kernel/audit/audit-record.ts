import { createHmac } from 'node:crypto';
import type { Context } from '../context.js';
import { newId } from '../ids.js';

/** Ids, names of settings and counts. Never a secret value, a token or free text of a caller. */
export type AuditFacts = Readonly<Record<string, string | number | boolean | null | readonly string[]>>;

/** One row of the audit trail, before the database stamps its time. */
export interface AuditRecord {
  readonly id: string;
  readonly organizationId: string;
  readonly projectId: string | null;
  readonly action: string;
  readonly outcome: 'allowed' | 'denied';
  readonly actorKind: string;
  readonly actorId: string;
  readonly tokenId: string | null;
  readonly requestId: string;
  readonly address: string | null;
  readonly userAgent: string | null;
  readonly facts: AuditFacts;
}

/** What happened, in the eyes of a verb. */
export interface AuditEvent {
  readonly action: string;
  readonly projectId?: string | null;
  readonly outcome?: 'allowed' | 'denied';
  readonly facts?: AuditFacts;
  /**
   * A change of something that replies about projects show beside what is in the project: names of accounts, memberships.
   * It makes a new revision of every project of the organization and of those below it.
   */
  readonly showsInProjects?: boolean;
}

/** Which projects have changed with the events of a batch: none, those that are named, or all of the organization. */
export type Reach = 'nothing' | 'projects' | 'organization';

/** The record of an event in a context. */
export function auditRecord(ctx: Context, event: AuditEvent): AuditRecord {
  return {
    id: newId(),
    organizationId: ctx.organizationId,
    // As the database has ids: the MAC is checked against what it gives back.
    projectId: event.projectId?.toLowerCase() ?? null,
    action: event.action,
    outcome: event.outcome ?? 'allowed',
    actorKind: ctx.actor.kind,
    actorId: ctx.actor.id,
    tokenId: ctx.actor.tokenId,
    requestId: ctx.requestId,
    address: ctx.address,
    userAgent: ctx.userAgent?.slice(0, 200) ?? null,
    facts: event.facts ?? {},
  };
}

const COLUMNS = [
  'id',
  'organization_id',
  'project_id',
  'action',
  'outcome',
  'actor_kind',
  'actor_id',
  'token_id',
  'request_id',
  'address',
  'user_agent',
  'facts',
  'mac',
] as const;

/**
 * The insert of a batch of records: one array parameter a column, so that the statement is the same for every batch size
 * and is planned once.
 *
 * @param key of the row MACs. They cover every column but the time, which only the database knows.
 * @param changed their revisions rise
 */
export function insertOf(
  records: readonly AuditRecord[],
  key: Buffer,
  changed: Reach,
): { text: string; params: unknown[] } {
  const rows = records.map((record) => [...valuesOf(record), macOf(record, key).toString('hex')]);
  return { text: INSERTS[changed], params: COLUMNS.map((_, column) => rows.map((values) => values[column])) };
}

/** The MAC of a record, 32 bytes: that of its row, as long as nobody has changed it. */
export const macOf = (record: AuditRecord, key: Buffer): Buffer =>
  createHmac('sha256', key)
    .update(JSON.stringify(valuesOf(record)))
    .digest();

const valuesOf = (record: AuditRecord): (string | null)[] => [
  record.id,
  record.organizationId,
  record.projectId,
  record.action,
  record.outcome,
  record.actorKind,
  record.actorId,
  record.tokenId,
  record.requestId,
  record.address,
  record.userAgent,
  canonicalJson(record.facts),
];

const INSERT = `insert into audit_record (${COLUMNS.join(', ')})
  select id, organization_id, project_id, action, outcome, actor_kind, actor_id, token_id, request_id, address::inet, user_agent, facts::jsonb, decode(mac, 'hex')
  from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::uuid[], $8::uuid[], $9::uuid[], $10::text[], $11::text[], $12::text[], $13::text[])
    as given (${COLUMNS.join(', ')})`;

/**
 * For changes the revisions of their projects rise with the insert, so that nobody forgets to. As part of the last statement
 * before the commit: the row of a project is held no longer than that takes. Many are held in the order of ids, so that two
 * changes cannot wait for each other.
 */
const INSERTS: Readonly<Record<Reach, string>> = {
  nothing: INSERT,
  projects: `with changed as (update project set revision = revision + 1 where id = any($3::uuid[])) ${INSERT}`,
  organization: `with held as (
      select id from project where id = any($3::uuid[])
        or organization_id in (select id from organization where id = any($2::uuid[]) or parent_id = any($2::uuid[]))
      order by id for no key update
    ), changed as (update project set revision = revision + 1 from held where project.id = held.id) ${INSERT}`,
};

/** Keys in order, so that the MAC can be checked from what Postgres gives back for `jsonb`. */
const canonicalJson = (facts: AuditFacts): string =>
  JSON.stringify(Object.fromEntries(Object.entries(facts).sort(([a], [b]) => (a < b ? -1 : 1))));
