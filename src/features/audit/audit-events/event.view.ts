import { recordedClass } from '../../../kernel/audit/audit-class.js';
import type { AuditFacts } from '../../../kernel/audit/audit-record.js';
import type { ProjectChanges } from './changes.service.js';
import type { ProjectChangesType } from './changes.type.js';
import type { EventRow } from './event.sql.js';
import type { AuditEventType, AuditFactType } from './event.type.js';

const NOTHING = { stringValue: null, numberValue: null, booleanValue: null, listValue: null } as const;

function toFact(name: string, value: AuditFacts[string]): AuditFactType {
  if (typeof value === 'string') return { ...NOTHING, name, stringValue: value };
  if (typeof value === 'number') return { ...NOTHING, name, numberValue: value };
  if (typeof value === 'boolean') return { ...NOTHING, name, booleanValue: value };
  return { ...NOTHING, name, listValue: value ?? null };
}

/** Typed details of an event, by name. */
export const toFacts = (facts: AuditFacts): AuditFactType[] =>
  Object.entries(facts)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, value]) => toFact(name, value));

/** A row as the API shows it. */
export const toAuditEvent = ({ facts, ...row }: EventRow): AuditEventType => ({
  ...row,
  eventId: row.id,
  class: recordedClass(row),
  facts: toFacts(facts),
});

type OfKind = ProjectChanges['secrets'];
const shown = ({ events, hasMore }: OfKind) => ({ events: events.map(toAuditEvent), hasMore });

/** What changed in a project as the API shows it. */
export const toProjectChanges = (changes: ProjectChanges): ProjectChangesType => ({
  projectId: changes.projectId,
  secrets: shown(changes.secrets),
  roles: shown(changes.roles),
  members: shown(changes.members),
  tokens: changes.tokens === null ? null : shown(changes.tokens),
  others: shown(changes.others),
});
