import { authorize, can } from '../../../kernel/authz/ability.js';
import type { Context } from '../../../kernel/context.js';
import { runTogether, type SharedRun } from '../../../kernel/database/batched.js';
import { SealedCursors } from '../../../kernel/graphql/sealed-cursors.js';
import { type CursorKey, SearchPage, timeCursorKey } from '../../../kernel/paging.js';
import { parse } from '../../../kernel/validation.js';
import type { ProjectAccess, ProjectReader } from '../../projects/public.js';
import { type AlertFilter, type EventType, findAlerts } from '../alerts/public.js';
import { ListMatches, MatchPage, PreviewAlert } from './alert-delivery.rules.js';
import type { Subject } from './alert-delivery.sql.js';
import { comparesSans, findCandidates, matchingCertificates, type Position, type Search } from './matching.js';

const ALERT = { find: findAlerts, notFound: 'CERTIFICATE_ALERT_NOT_FOUND' } as const;

/** The content of an alert: of an existing one, or of one to preview. */
interface Notifying {
  readonly filters: readonly AlertFilter[];
  readonly alertBefore: string;
  readonly eventType: EventType;
}

type Alert = Notifying & { readonly id: string; readonly projectId: string };

interface PageRequest {
  readonly first: number;
  readonly after?: string | null | undefined;
  readonly offset?: number | null | undefined;
}

/** A page of certificates. */
export type MatchedPage = SearchPage<Subject> & {
  /** Null: more than can be scanned. */
  readonly totalCount: () => Promise<number | null>;
};

/** Whether the caller can read a certificate or authority. */
export const mayRead =
  ({ ability }: ProjectAccess) =>
  ({ isAuthority, commonName }: Pick<Subject, 'isAuthority' | 'commonName'>): boolean =>
    isAuthority ? can(ability, 'certificate-authorities:read') : can(ability, 'certificates:read', { commonName });

/**
 * Certificates that alerts apply to: neither revoked nor expired. For expiration alerts, those within the period of the alert that are
 * not superseded, whether notified or not.
 *
 * Every method throws VALIDATION_FAILED, PERMISSION_DENIED and AUDIT_UNAVAILABLE.
 */
export class MatchService {
  constructor(private readonly projects: ProjectReader) {}

  /** Previews an alert that need not exist. @throws PROJECT_NOT_FOUND */
  async preview(ctx: Context, raw: unknown): Promise<MatchedPage> {
    const { projectId: wanted, filters, alertBefore, eventType, ...request } = parse(PreviewAlert, raw);
    const project = await this.projects.authorized(ctx, wanted, 'pki-alerts:read');
    const page = await pageOf(ctx, project, { filters, alertBefore, eventType }, request);
    await record(ctx, project, 'certificate-alert:preview', { count: page.nodes.length });
    return page;
  }

  /** Lists the certificates of an alert. @throws CERTIFICATE_ALERT_NOT_FOUND */
  async list(ctx: Context, raw: unknown): Promise<MatchedPage> {
    const { alertId: id, ...request } = parse(ListMatches, raw);
    const { row, project } = await this.projects.authorizedItem(ctx, { id }, ALERT, 'pki-alerts:read');
    return pageOfAlert(ctx, project, row, request);
  }

  /** Like `list`, for an alert nested in a response. All alerts share their statements. */
  async pageOfAlert(ctx: Context, alert: Alert, raw: unknown): Promise<MatchedPage> {
    const request = parse(MatchPage, raw);
    const project = await this.projects.loadOwning(ctx, alert.projectId, ALERT.notFound);
    authorize(project, 'pki-alerts:read');
    return pageOfAlert(ctx, project, alert, request);
  }
}

async function pageOfAlert(
  ctx: Context,
  project: ProjectAccess,
  alert: Alert,
  request: PageRequest,
): Promise<MatchedPage> {
  const page = await pageOf(ctx, project, alert, request);
  await record(ctx, project, 'certificate-alert:list-certificates', { alertId: alert.id, count: page.nodes.length });
  return page;
}

async function pageOf(
  ctx: Context,
  project: ProjectAccess,
  { filters, alertBefore, eventType }: Notifying,
  request: PageRequest,
): Promise<MatchedPage> {
  const { projectId } = project;
  const period = eventType === 'expiration' ? alertBefore : null;
  const cursors = new SealedCursors(ctx, 'alertMatches', { projectId, filters, period });
  const offset = request.offset ?? 0;
  const search = { projectId, filters, period, mayRead: mayRead(project) };
  const after = positionOf(cursors.read(request.after, 2));
  const found = await runTogether(ctx, findMatches, { ...search, after, count: offset + request.first + 1 });
  const stoppedAt = found.stoppedAt === null ? null : keyOf(found.stoppedAt);
  const page = new SearchPage(found.subjects.slice(offset), request, keyOf, { cursors, stoppedAt });
  return Object.assign(page, {
    totalCount: async () => {
      const all = await runTogether(ctx, findMatches, { ...search, after: null, count: Number.POSITIVE_INFINITY });
      return all.stoppedAt === null ? all.subjects.length : null;
    },
  });
}

const keyOf = ({ notAfter, id }: Position): CursorKey => timeCursorKey(notAfter, id);
const positionOf = (key: CursorKey | null): Position | null =>
  key === null ? null : { notAfter: new Date(key[0] as string), id: key[1] as string };

const record = (
  ctx: Context,
  { projectId }: ProjectAccess,
  action: string,
  facts: Readonly<Record<string, string | number>>,
): Promise<void> => ctx.auditTrail.recordRead(ctx, { action, projectId, facts });

/** Maximum number of certificates scanned for one page. */
const SCAN_LIMIT = 10_000;
const AT_ONCE = { most: 1_000, withSans: 200, least: 20 };

/** A search: certificates that match the filters and that the caller can read. */
interface MatchSearch extends Search {
  readonly count: number;
  readonly mayRead: (subject: Subject) => boolean;
}

/** The result of a search. */
interface Matches {
  /** Soonest expiration first. May be more than requested. */
  readonly subjects: readonly Subject[];
  /** Where the scan stopped before it found enough or reached the end; null otherwise. */
  readonly stoppedAt: Position | null;
}

interface Progress {
  readonly wanted: MatchSearch;
  readonly found: Subject[];
  scanned: number;
  last: Position | null;
  isOver: boolean;
  isAtEnd: boolean;
}

/** Finds the certificates of many alerts. Each statement is shared by all alerts. */
const findMatches: SharedRun<MatchSearch, Matches> = async (ctx, given) => {
  const all = given.map((wanted): Progress => {
    return { wanted, found: [], scanned: 0, last: wanted.after, isOver: false, isAtEnd: false };
  });
  for (let open = all; open.length > 0; open = open.filter(({ isOver }) => !isOver)) {
    const most = sizeOf(open);
    const searches = open.map(({ wanted, last: after }) => ({ ...wanted, after }));
    const slices = await findCandidates(ctx, searches, most);
    for (const [at, progress] of open.entries()) await advance(progress, slices[at] ?? [], most);
  }
  return all.map(({ found: subjects, last, isAtEnd, wanted }) => ({
    subjects,
    stoppedAt: isAtEnd || subjects.length >= wanted.count ? null : last,
  }));
};

/** All searches together scan no more than a single one does. */
function sizeOf(open: readonly Progress[]): number {
  const { most, withSans, least } = AT_ONCE;
  const whole = open.some(({ wanted }) => comparesSans(wanted)) ? withSans : most;
  return Math.max(least, Math.floor(whole / open.length));
}

async function advance(progress: Progress, slice: readonly Subject[], most: number): Promise<void> {
  const { wanted, found } = progress;
  found.push(...(await matchingCertificates(wanted.filters, slice)).filter(wanted.mayRead));
  progress.scanned += slice.length;
  progress.last = slice.at(-1) ?? progress.last;
  progress.isAtEnd = slice.length < most;
  progress.isOver = progress.isAtEnd || found.length >= wanted.count || progress.scanned >= SCAN_LIMIT;
}
