import type { z } from 'zod';
import { namesList } from '../../kernel/audit/disclosure.js';
import type { Context } from '../../kernel/context.js';
import { uuidText } from '../../kernel/crypto/seal.js';
import { type Together, together } from '../../kernel/database/batched.js';
import { SealedCursors } from '../../kernel/graphql/sealed-cursors.js';
import { type CursorKey, SoughtPage } from '../../kernel/paging.js';
import { parse } from '../../kernel/validation.js';
import type { ProjectReader } from '../projects/public.js';
import { DisclosedPage, ListAuditEvents } from './event.rules.js';
import { BY_LEAD, type EventRow, type Lead, LIST_DISCLOSED } from './event.sql.js';
import type { DisclosedSecretsType } from './event.type.js';
import { authorizeTrail, idOrNone } from './event-access.js';

type Filters = Omit<z.output<typeof ListAuditEvents>, 'first' | 'after'>;

/** Where an event is in a list. */
export const keyOf = ({ sequence }: Pick<EventRow, 'sequence'>): CursorKey => [sequence];

/**
 * The audit trail as callers read it. Reading it is audited, too.
 *
 * Every method throws VALIDATION_FAILED, PERMISSION_DENIED, PROJECT_NOT_FOUND and AUDIT_UNAVAILABLE.
 */
export class EventService {
  constructor(private readonly projects: ProjectReader) {}

  /**
   * Events of the organization or of a project, newest first.
   *
   * @param raw `{ first, after }` and filters; the rules are `ListAuditEvents`
   */
  async list(ctx: Context, raw: unknown): Promise<SoughtPage<EventRow>> {
    const { first, after, ...filters } = parse(ListAuditEvents, raw);
    // A number of the trail would tell how much others do.
    const cursors = new SealedCursors(ctx, 'auditEvents', filters);
    const [before = null] = cursors.read(after, 1) ?? [];
    const projectId = await authorizeTrail(ctx, this.projects, filters.projectId ?? null);
    const asked = { ...boundsOf(ctx, { ...filters, projectId }), before };
    const { list, end: endOf } = BY_LEAD[leadOf(asked)];
    const rows = await list(ctx, { ...asked, limit: String(first + 1) });
    const [end] = rows.length > first ? [] : await endOf(ctx, asked);
    const stoppedAt = end === undefined ? null : keyOf(end);
    const page = new SoughtPage(rows, { first, after }, keyOf, { cursors, stoppedAt });
    await ctx.auditTrail.recordRead(ctx, {
      action: 'audit-event:list',
      projectId,
      facts: { count: page.nodes.length },
    });
    return page;
  }

  /** The secrets whose values the response of an event had; all events of an answer share one statement. Null: none. */
  async disclosedIn(
    ctx: Context,
    { disclosed }: Pick<EventRow, 'disclosed'>,
    raw: unknown,
  ): Promise<DisclosedSecretsType | null> {
    const { first } = parse(DisclosedPage, raw);
    if (disclosed === null) return null;
    if (!namesList(disclosed)) return { count: 1, ids: [uuidText(Buffer.from(disclosed, 'hex'))] };
    return together(ctx, disclosedLists, { digest: disclosed, first });
  }
}

/** A list of disclosed ids that is asked for. */
interface WantedList {
  readonly digest: string;
  readonly first: number;
}

const disclosedLists: Together<WantedList, DisclosedSecretsType | null> = async (ctx, wanted) => {
  const digests = [...new Set(wanted.map(({ digest }) => digest))];
  const rows = await LIST_DISCLOSED(ctx, { digests, limit: Math.max(...wanted.map(({ first }) => first)) });
  const lists = new Map(rows.map((row) => [row.digest, row]));
  return wanted.map(({ digest, first }) => {
    const found = lists.get(digest);
    return found === undefined ? null : { count: found.count, ids: found.ids.slice(0, first) };
  });
};

type Bounds = ReturnType<typeof boundsOf>;

/** What few rows have, in the order in which it is tried. */
const NARROW: readonly (Exclude<Lead, 'outcome' | 'organizationId'> & keyof Bounds)[] = [
  ...(['requestId', 'subjectId', 'actorId', 'action', 'projectId'] as const),
];

/** What a list is read by. */
const leadOf = (asked: Bounds): Lead =>
  NARROW.find((name) => asked[name] !== null) ?? (asked.outcome === 'denied' ? 'outcome' : 'organizationId');

/** The bounds of a list, as statements have them. */
function boundsOf({ organizationId }: Context, filters: Omit<Filters, 'projectId'> & { projectId: string | null }) {
  const {
    projectId,
    actorKind = null,
    actions = null,
    outcome = null,
    class: kind = null,
    from = null,
    to = null,
  } = filters;
  const id = (text: string | null | undefined) => (text == null ? null : idOrNone(text));
  return {
    ...{ organizationId, projectId, actorKind, outcome, class: kind, from, to },
    actorId: id(filters.actorId),
    subjectId: id(filters.subjectId),
    requestId: id(filters.requestId),
    action: actions?.length === 1 ? (actions[0] ?? null) : null,
    actions,
  };
}
