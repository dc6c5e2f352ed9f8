import type { z } from 'zod';
import { namesList } from '../../../kernel/audit/disclosure.js';
import type { Context } from '../../../kernel/context.js';
import { uuidText } from '../../../kernel/crypto/seal.js';
import { type Together, together } from '../../../kernel/database/batched.js';
import { SealedCursors } from '../../../kernel/graphql/sealed-cursors.js';
import { type CursorKey, PAGE_SIZE, SoughtPage } from '../../../kernel/paging.js';
import { parse } from '../../../kernel/validation.js';
import type { ProjectReader } from '../../projects/public.js';
import { listDisclosed } from './disclosed.queries.js';
import { DisclosedPage, ListAuditEvents } from './event.rules.js';
import { countRows, type EventRow, findEndOfPage, type Lead, listEvents } from './event.sql.js';
import type { DisclosedSecretsType } from './event.type.js';
import { authorizeTrail, idOrNone, readsWholeTrail } from './event-access.js';

type Filters = Omit<z.output<typeof ListAuditEvents>, 'first' | 'after' | 'last' | 'before' | 'skip'>;

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
   * @param raw `{ first, after, last, before, skip }` and filters; the rules are `ListAuditEvents`
   */
  async list(ctx: Context, raw: unknown): Promise<SoughtPage<EventRow>> {
    const { first, after, last, before, skip, ...filters } = parse(ListAuditEvents, raw);
    // A number of the trail would tell how much others do.
    const cursors = new SealedCursors(ctx, 'auditEvents', filters);
    const [below = null] = cursors.read(after, 1) ?? [];
    const [above = null] = cursors.read(before, 1) ?? [];
    const projectId = await authorizeTrail(ctx, this.projects, filters.projectId ?? null);
    const within = readsWholeTrail(ctx) ? null : projectId;
    const asked = { ...boundsOf(ctx, { ...filters, projectId }), below, above, within };
    const isBackward = last != null;
    const size = last ?? first ?? PAGE_SIZE;
    const lead = await leadOf(ctx, asked);
    const rows = await listBy(ctx, asked, { lead, isBackward, limit: size + 1, skip });
    const stoppedAt = rows.length > size ? null : await stopOf(ctx, asked, { lead, isBackward });
    const request = isBackward ? { first: size, after: before } : { first: size, after };
    const page = new SoughtPage(rows, request, keyOf, { cursors, stoppedAt, isBackward });
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
  const digests = [...new Set(wanted.map(({ digest }) => digest))].map((digest) => Buffer.from(digest, 'hex'));
  const rows = await listDisclosed(ctx, { digests, limit: Math.max(...wanted.map(({ first }) => first)) });
  const lists = new Map(rows.map((row) => [row.digest, row]));
  return wanted.map(({ digest, first }) => {
    const found = lists.get(digest);
    return found === undefined ? null : { count: found.count, ids: found.ids.slice(0, first) };
  });
};

type Bounds = ReturnType<typeof boundsOf> & {
  readonly below: string | null;
  readonly above: string | null;
  /** The project that is all that the caller may read; null: it may read the whole trail. */
  readonly within: string | null;
};

/** What few rows have, in the order in which it is tried. */
const NARROW = ['subjectId', 'actorId', 'action', 'outcome', 'projectId'] as const satisfies readonly Lead[];
/** What does not tell of other projects. */
const NARROW_IN_PROJECT = ['subjectId', 'projectId'] as const satisfies readonly Lead[];

/** What a list is read by: of what is asked for, that which the fewest rows have. */
async function leadOf(ctx: Context, asked: Bounds): Promise<Lead> {
  if (asked.requestId !== null) return 'requestId';
  const names = asked.within === null ? NARROW : NARROW_IN_PROJECT;
  const given = names.filter((name) => (name === 'outcome' ? asked.outcome === 'denied' : asked[name] !== null));
  const [first = 'organizationId'] = given;
  if (given.length < 2) return first;
  const [counts] = await countRows(ctx, asked);
  const countOf = (name: (typeof NARROW)[number]): number => counts?.[name] ?? 0;
  return given.reduce((fewest, name) => (countOf(name) < countOf(fewest) ? name : fewest), given[0] ?? 'projectId');
}

interface Part {
  readonly lead: Lead;
  readonly isBackward: boolean;
  readonly limit: number;
  readonly skip: number;
}

/** Rows in the order of a page: one that goes back has the oldest of them first. */
const listBy = (ctx: Context, asked: Bounds, { lead, isBackward, limit, skip }: Part): Promise<EventRow[]> =>
  listEvents({ lead, direction: isBackward ? 'asc' : 'desc' })(ctx, {
    ...asked,
    limit: String(limit),
    skip: String(skip),
  });

/** The last row that a page looks at; null: it looked at all. */
async function stopOf(
  ctx: Context,
  asked: Bounds,
  { lead, isBackward }: Pick<Part, 'lead' | 'isBackward'>,
): Promise<CursorKey | null> {
  const [stop] = await findEndOfPage({ lead, direction: isBackward ? 'asc' : 'desc' })(ctx, asked);
  return stop === undefined ? null : keyOf(stop);
}

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
    ...{ organizationId, projectId, actorKind, class: kind, from, to },
    // Refused requests have an index.
    outcome: outcome ?? (kind === 'denial' ? 'denied' : null),
    actorId: id(filters.actorId),
    subjectId: id(filters.subjectId),
    requestId: id(filters.requestId),
    action: actions?.length === 1 ? (actions[0] ?? null) : null,
    actions,
  };
}
