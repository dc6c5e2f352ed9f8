import type { z } from 'zod';
import { namesList } from '../../../kernel/audit/disclosure.js';
import { authorize, can } from '../../../kernel/authz/ability.js';
import type { Context } from '../../../kernel/context.js';
import { uuidText } from '../../../kernel/crypto/seal.js';
import { runTogether, type SharedRun } from '../../../kernel/database/batched.js';
import { SealedCursors } from '../../../kernel/graphql/sealed-cursors.js';
import { isId } from '../../../kernel/ids.js';
import { type CursorKey, PAGE_SIZE, SearchPage } from '../../../kernel/paging.js';
import { parse } from '../../../kernel/validation.js';
import type { ProjectReader } from '../../projects/public.js';
import { DisclosedPage, EventsPage, ListAuditEvents } from './event.rules.js';
import {
  countRows,
  type EventRow,
  findEndOfPage,
  listDisclosed,
  listEvents,
  listLogins,
  listReads,
  type PageIndex,
} from './event.sql.js';
import type { DisclosedSecretsType } from './event.type.js';

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
  async list(ctx: Context, raw: unknown): Promise<SearchPage<EventRow>> {
    const { first, after, last, before, skip, ...filters } = parse(ListAuditEvents, raw);
    // A number of the trail would tell how much others do.
    const cursors = new SealedCursors(ctx, 'auditEvents', filters);
    const [below = null] = cursors.read(after, 1) ?? [];
    const [above = null] = cursors.read(before, 1) ?? [];
    const projectId = await authorizeTrail(ctx, this.projects, filters.projectId ?? null);
    const within = readsWholeTrail(ctx) ? null : projectId;
    const bounds = { ...boundsOf(ctx, { ...filters, projectId }), below, above, within };
    const isBackward = last != null;
    const size = last ?? first ?? PAGE_SIZE;
    const lead = await leadOf(ctx, bounds);
    const rows = await listBy(ctx, bounds, { lead, isBackward, limit: size + 1, skip });
    const stoppedAt = rows.length > size ? null : await stopOf(ctx, bounds, { lead, isBackward });
    const request = isBackward ? { first: size, after: before } : { first: size, after };
    const page = new SearchPage(rows, request, keyOf, { cursors, stoppedAt, isBackward });
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
    return runTogether(ctx, disclosedLists, { digest: disclosed, first });
  }
}

/** A request for a list of disclosed IDs. */
interface DisclosedRequest {
  readonly digest: string;
  readonly first: number;
}

const disclosedLists: SharedRun<DisclosedRequest, DisclosedSecretsType | null> = async (ctx, requests) => {
  const digests = [...new Set(requests.map(({ digest }) => digest))].map((digest) => Buffer.from(digest, 'hex'));
  const rows = await listDisclosed(ctx, { digests, limit: Math.max(...requests.map(({ first }) => first)) });
  const lists = new Map(rows.map((row) => [row.digest, row]));
  return requests.map(({ digest, first }) => {
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
const NARROW = ['subjectId', 'actorId', 'action', 'outcome', 'projectId'] as const satisfies readonly PageIndex[];
/** What does not tell of other projects. */
const NARROW_IN_PROJECT = ['subjectId', 'projectId'] as const satisfies readonly PageIndex[];

/** What a list is read by: of the given filters, the one that the fewest rows have. */
async function leadOf(ctx: Context, bounds: Bounds): Promise<PageIndex> {
  if (bounds.requestId !== null) return 'requestId';
  const names = bounds.within === null ? NARROW : NARROW_IN_PROJECT;
  const given = names.filter((name) => (name === 'outcome' ? bounds.outcome === 'denied' : bounds[name] !== null));
  const [first = 'organizationId'] = given;
  if (given.length < 2) return first;
  const [counts] = await countRows(ctx, bounds);
  const countOf = (name: (typeof NARROW)[number]): number => counts?.[name] ?? 0;
  return given.reduce((fewest, name) => (countOf(name) < countOf(fewest) ? name : fewest), given[0] ?? 'projectId');
}

interface Part {
  readonly lead: PageIndex;
  readonly isBackward: boolean;
  readonly limit: number;
  readonly skip: number;
}

/** Rows in the order of a page: one that goes back has the oldest of them first. */
const listBy = (ctx: Context, bounds: Bounds, { lead, isBackward, limit, skip }: Part): Promise<EventRow[]> =>
  listEvents({ lead, direction: isBackward ? 'asc' : 'desc' })(ctx, {
    ...bounds,
    limit: String(limit),
    skip: String(skip),
  });

/** The last row that a page looks at; null: it looked at all. */
async function stopOf(
  ctx: Context,
  bounds: Bounds,
  { lead, isBackward }: Pick<Part, 'lead' | 'isBackward'>,
): Promise<CursorKey | null> {
  const [stop] = await findEndOfPage({ lead, direction: isBackward ? 'asc' : 'desc' })(ctx, bounds);
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

/** A secret or a machine identity that a response shows. */
interface Shown {
  readonly id: string;
  readonly projectId?: string | null;
}

/**
 * What the trail has about one secret or machine identity of a response, newest first; all of a response share one statement. Every method
 * takes `{ first, after }` and throws VALIDATION_FAILED, PERMISSION_DENIED and AUDIT_UNAVAILABLE.
 */
export class EventsAboutService {
  constructor(private readonly projects: ProjectReader) {}

  /** Events whose responses had the value of a secret, also inserted into another one or by an import. */
  readsOf(ctx: Context, { id, projectId = null }: Shown, raw: unknown): Promise<SearchPage<EventRow>> {
    const about = { id, projectId, cursors: 'secretReads', action: 'audit-event:list-reads', facts: { secretId: id } };
    return this.#page(ctx, readsOfMany, about, raw);
  }

  /** The logins of a machine identity, and what it tried in vain. */
  loginsOf(ctx: Context, { id, projectId = null }: Shown, raw: unknown): Promise<SearchPage<EventRow>> {
    const about = { id, projectId, cursors: 'logins', action: 'audit-event:list-logins', facts: { identityId: id } };
    return this.#page(ctx, loginsOfMany, about, raw);
  }

  async #page(
    ctx: Context,
    find: SharedRun<PageAbout, readonly EventRow[]>,
    { id, projectId, cursors: name, action, facts }: About,
    raw: unknown,
  ): Promise<SearchPage<EventRow>> {
    const request = parse(EventsPage, raw);
    const cursors = new SealedCursors(ctx, name, { id });
    const [before = null] = cursors.read(request.after, 1) ?? [];
    await authorizeTrail(ctx, this.projects, projectId);
    const rows = await runTogether(ctx, find, { id, before, limit: request.first + 1 });
    const page = new SearchPage(rows, request, keyOf, { cursors, stoppedAt: null });
    await ctx.auditTrail.recordRead(ctx, { action, projectId, facts: { ...facts, count: page.nodes.length } });
    return page;
  }
}

/** What a page is about, and how its reading is called: of cursors, and in the trail. */
interface About extends Required<Shown> {
  readonly cursors: string;
  readonly action: string;
  readonly facts: Readonly<Record<string, string>>;
}

/** A request for a page about one thing. */
interface PageAbout {
  readonly id: string;
  readonly before: string | null;
  readonly limit: number;
}

const pagesBy =
  (list: typeof listReads | typeof listLogins): SharedRun<PageAbout, readonly EventRow[]> =>
  async (ctx, requests) => {
    const rows = await list(ctx, {
      ids: requests.map(({ id }) => id),
      befores: requests.map(({ before }) => before),
      organizationId: ctx.organizationId,
      limit: String(Math.max(...requests.map(({ limit }) => limit))),
    });
    const pages = Map.groupBy(rows, ({ place }) => place);
    return requests.map(({ limit }, at) => (pages.get(at + 1) ?? []).slice(0, limit));
  };
const readsOfMany = pagesBy(listReads);
const loginsOfMany = pagesBy(listLogins);

/**
 * Allows a caller to read the trail: with the right of the organization all of it, also of projects that it is no member of and of
 * deleted ones; with the right of a project what happened in there.
 *
 * @param projectId null: all of the organization
 * @returns id of the project in the form of rows
 * @throws PERMISSION_DENIED, PROJECT_NOT_FOUND
 */
export async function authorizeTrail(
  ctx: Context,
  projects: ProjectReader,
  projectId: string | null,
): Promise<string | null> {
  if (projectId === null) {
    authorize(ctx, 'audit-logs:read');
    return null;
  }
  if (readsWholeTrail(ctx)) return idOrNone(projectId);
  return (await projects.authorized(ctx, projectId, 'audit-logs:read')).projectId;
}

/** Whether a caller may read all of the trail of its organization. */
const readsWholeTrail = ({ ability }: Context): boolean => can(ability, 'audit-logs:read');

/** Not the id of zeros, which the service itself has. */
const NOBODY = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** An id as rows have it; a text that is none finds nothing. */
const idOrNone = (text: string): string => (isId(text) ? text.toLowerCase() : NOBODY);
