import { createHmac, type KeyObject } from 'node:crypto';
import type { Context, RequestInfo } from '../context.js';
import { newId } from '../ids.js';
import { type AuditClass, classOf, subjectOf } from './audit-class.js';
import { type AffectedProjects, INSERTS, INSERTS_WITH_LISTS, RECORD_PARAMETERS } from './audit-record.sql.js';
import { type Disclosure, idArray, isList, namesList } from './disclosure.js';
import type { Retention } from './retention.js';

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
  /** Name of the disclosure, see there; null: the response held no value. */
  readonly disclosed: string | null;
  /** Null for records of before there were classes: `recordedClass` derives theirs. */
  readonly class: AuditClass | null;
  /** The id of what a change is about; null for reads, and for changes of many. */
  readonly subjectId: string | null;
}

/** A record to be stored. */
export interface NewRecord extends AuditRecord {
  /** How many days it is kept unless its project says otherwise; null: for ever; 0: for ever whatever its project says. */
  readonly keptDays: number | null;
}

/** What happened, in the eyes of a verb. */
export interface AuditEvent {
  readonly action: string;
  readonly projectId?: string | null;
  readonly outcome?: 'allowed' | 'denied';
  readonly facts?: AuditFacts;
  /** What a change is about, where its action and facts do not tell: see `subjectOf`. */
  readonly subjectId?: string | null;
  /** The values that the response holds, as they are or inserted into others. */
  readonly disclosed?: Disclosure | null;
  /**
   * A change of something that replies about projects show beside what is in the project: names of accounts, memberships.
   * It makes a new revision of every project of the organization and of those below it.
   */
  readonly showsInProjects?: boolean;
  /** Its record is kept for ever, whatever the retention is. */
  readonly isKept?: boolean;
  /** The request that it is of, where one transaction does the same for several of a caller. Absent: that of the context. */
  readonly request?: RequestInfo;
}

/** The record of an event in a context. @param isChange it is recorded in the transaction of a change */
export function auditRecord(
  ctx: Context,
  event: AuditEvent,
  { isChange, retention }: { readonly isChange: boolean; readonly retention: Retention },
): NewRecord {
  const recordClass = classOf(event, isChange);
  const { requestId, address, userAgent } = event.request ?? ctx;
  const keptDays = recordClass === 'browse' ? retention.browseDays : retention.days;
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
    requestId,
    address,
    userAgent: userAgent?.slice(0, 200) ?? null,
    facts: event.facts ?? {},
    disclosed: event.disclosed?.name ?? null,
    class: recordClass,
    subjectId: isChange ? subjectOf(event, ctx.organizationId) : null,
    keptDays: event.isKept === true ? 0 : keptDays,
  };
}

/**
 * The insert of a batch of records: one array parameter a column, so that the statement is the same for every batch size
 * and is planned once.
 *
 * It stores all records, or none: then it returns the lists that they name and that are neither given nor in the trail. A node
 * remembers which lists it stored, but the database may have been set back since, by a failover or from a copy.
 *
 * @param key of the row MACs. They cover every column but the time, which only the database knows.
 * @param changed their revisions rise
 * @param disclosures those whose lists the trail may not have yet
 */
export function insertOf(
  records: readonly NewRecord[],
  { key, changed, disclosures }: { key: KeyObject; changed: AffectedProjects; disclosures: readonly Disclosure[] },
): { text: string; params: unknown[] } {
  const rows = records.map((record) => {
    const values = valuesOf(record);
    return [
      ...values,
      record.disclosed,
      rowMac(values, record, key).toString('hex'),
      record.class,
      record.subjectId,
      record.keptDays,
    ];
  });
  const columns = RECORD_PARAMETERS.map((_, column) => rows.map((values) => values[column]));
  if (!records.some(({ disclosed }) => namesList(disclosed))) return { text: INSERTS[changed], params: columns };
  const lists = [...new Map(disclosures.filter(isList).map((list) => [list.name, list])).values()];
  const params = [...columns, lists.map(({ name }) => name), lists.map(idArray)];
  return { text: INSERTS_WITH_LISTS[changed], params };
}

/** The MAC of a record, 32 bytes: that of its row, as long as nobody has changed it. */
export const macOf = (record: AuditRecord, key: KeyObject): Buffer => rowMac(valuesOf(record), record, key);

const rowMac = (values: readonly (string | null)[], record: AuditRecord, key: KeyObject): Buffer =>
  createHmac('sha256', key)
    .update(JSON.stringify([...values, ...laterValues(record)]))
    .digest();

/** Older records have the MAC that they had before there were disclosures, or classes and subjects. */
function laterValues({ disclosed, class: recorded, subjectId }: AuditRecord): (string | null)[] {
  if (recorded !== null || subjectId !== null) return [disclosed, recorded, subjectId];
  return disclosed === null ? [] : [disclosed];
}

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

/** Keys in order, so that the MAC can be checked from what Postgres gives back for `jsonb`. */
const canonicalJson = (facts: AuditFacts): string =>
  JSON.stringify(Object.fromEntries(Object.entries(facts).sort(([a], [b]) => (a < b ? -1 : 1))));
