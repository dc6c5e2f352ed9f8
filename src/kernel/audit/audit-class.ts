import { isId } from '../ids.js';

/** What a record is about: something changed, a response held values, it held none, or the caller was refused. */
export type AuditClass = 'change' | 'value-read' | 'browse' | 'denial';

/** The classes, as the database has them. */
export const AUDIT_CLASSES = ['change', 'value-read', 'browse', 'denial'] as const satisfies readonly AuditClass[];

/** What of an event, or of a record, tells its class and subject. */
interface ClassifiedEvent {
  readonly action: string;
  readonly outcome?: 'allowed' | 'denied';
  /** Anything but null: the response held values. */
  readonly disclosed?: unknown;
  readonly projectId?: string | null;
  readonly subjectId?: string | null;
  readonly facts?: Readonly<Record<string, unknown>>;
}

/** The class of an event. A change whose response holds values is a change: `disclosed` says the rest. */
export function classOf({ outcome, disclosed }: ClassifiedEvent, isChange: boolean): AuditClass {
  if (outcome === 'denied') return 'denial';
  if (isChange) return 'change';
  return disclosed == null ? 'browse' : 'value-read';
}

/** Verbs of reads, in records of before there were classes. Postgres reads the expression, too. */
export const READ_VERBS =
  /:(get|list|check|compare|preview|read|search|explain|effective|holders|drift|duplicates|replay|where-used)(-|$)/;

/** The class of a stored record; derived for those of before there were classes. */
export function recordedClass({
  class: stored,
  outcome,
  disclosed,
  action,
}: ClassifiedEvent & { readonly class: AuditClass | null }): AuditClass {
  if (stored !== null) return stored;
  if (outcome === 'denied') return 'denial';
  if (!READ_VERBS.test(action)) return 'change';
  return disclosed == null ? 'browse' : 'value-read';
}

/**
 * The id of what a change is about; null when it is about many, or about nothing that has an id.
 *
 * Found by the name of the action: the fact `secretRotationId` or `rotationId` for `secret-rotation:update`, or else
 * `secretId`. A list of a single id, as `secretIds`, counts as that id. An event may also name its subject itself.
 *
 * @param organizationId of the record
 */
export function subjectOf(
  { action, projectId, facts, subjectId }: ClassifiedEvent,
  organizationId: string,
): string | null {
  if (subjectId !== undefined) return subjectId?.toLowerCase() ?? null;
  const words = action.slice(0, action.indexOf(':')).split('-');
  const known: Readonly<Record<string, unknown>> = { organizationId, projectId: projectId ?? null, ...facts };
  const names = [...words.map((_, at) => words.slice(at)), ...words.map((_, at) => words.slice(0, -at - 1))];
  for (const name of names) {
    const id = idIn(known, camelCase(name));
    if (id !== null) return id.toLowerCase();
  }
  return null;
}

function idIn(facts: Readonly<Record<string, unknown>>, name: string): string | null {
  const [one, many] = [facts[`${name}Id`], facts[`${name}Ids`]];
  const id = one ?? (Array.isArray(many) && many.length === 1 ? many[0] : null);
  return typeof id === 'string' && isId(id) ? id : null;
}

const camelCase = ([first = '', ...others]: readonly string[]): string =>
  first + others.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
