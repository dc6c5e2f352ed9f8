import * as z from 'zod';
import type { AuditFacts } from '../../../kernel/audit/audit-record.js';
import { namesList } from '../../../kernel/audit/disclosure.js';
import { settledSequence } from '../../../kernel/audit/settled.js';
import { PermissionDenied } from '../../../kernel/authz/ability.js';
import { recordDenial } from '../../../kernel/authz/denials.js';
import type { Context } from '../../../kernel/context.js';
import { queryOf } from '../../../kernel/database/database.js';
import { toAppError } from '../../../kernel/errors.js';
import { SealedCursors } from '../../../kernel/graphql/sealed-cursors.js';
import type { Download } from '../../../kernel/http/downloads.js';
import { MAX_CURSOR } from '../../../kernel/paging.js';
import { parse } from '../../../kernel/validation.js';
import { idOf } from '../../../kernel/value-rules.js';
import type { ProjectReader } from '../../projects/public.js';
import { authorizeTrail } from './event.service.js';
import { type ExportedRow, exportEvents, listDisclosed } from './event.sql.js';

/** Each may have 10,000 ids. */
const LISTS_AT_ONCE = 10;
/** Lists that one export remembers to have written. */
const MAX_WRITTEN = 10_000;

/** What may be asked for. */
const ExportEvents = z.strictObject({
  projectId: idOf('Export only events of the project with this ID.').optional(),
  after: z
    .string()
    .max(MAX_CURSOR)
    .optional()
    .meta({ description: 'Continue after this cursor: `cursor` of the last line with one.' }),
});

/** Writes the trail line by line, for archives and auditors. */
export class ExportService {
  constructor(private readonly projects: ProjectReader) {}

  /**
   * Begins an export: settled events, oldest first, as lines of JSON. Only one batch of them is in memory. Every batch ends with a
   * cursor; rights are checked anew before each one.
   *
   * @param raw `{ projectId?, after? }`; the rules are `ExportEvents`
   * @param signal ends it early, behind a cursor
   * @throws VALIDATION_FAILED, PERMISSION_DENIED, PROJECT_NOT_FOUND, AUDIT_UNAVAILABLE
   */
  async open(ctx: Context, raw: unknown, signal: AbortSignal): Promise<AsyncGenerator<string>> {
    const { projectId: requested, after } = parse(ExportEvents, raw);
    const cursors = new SealedCursors(ctx, 'auditExport', { projectId: requested });
    const [position = BEFORE_FIRST_ROW] = cursors.read(after, 1) ?? [];
    const projectId = await authorizeTrail(ctx, this.projects, requested ?? null);
    const settled = String(await settledSequence(queryOf(ctx)));
    await ctx.auditTrail.recordRead(ctx, { action: 'audit-event:export', projectId });
    return this.#lines(ctx, { projectId, position, settled, signal, write: (at) => cursors.write([at]) });
  }

  async *#lines(ctx: Context, bounds: Bounds): AsyncGenerator<string> {
    const { projectId, settled, signal, write } = bounds;
    const written = new Set<string>();
    for (let { position } = bounds; ; ) {
      const { rows, isMore } = await readRows(ctx, { projectId, after: position, settled });
      yield* listsOf(ctx, rows, written);
      position = rows.at(-1)?.sequence ?? position;
      const isEnd = !isMore;
      yield `${[...rows.map(eventLine), cursorLine(write(position), isEnd)].join('\n')}\n`;
      if (isEnd || signal.aborted) return;
      const refusal = await this.#refusal(ctx, projectId);
      if (refusal !== null) return yield `${errorLine(refusal)}\n`;
    }
  }

  /** Why an export must not go on: the token or the right has ended meanwhile. Null: it may. */
  async #refusal(ctx: Context, projectId: string | null): Promise<string | null> {
    try {
      const now = { ...ctx, ...(await ctx.renewed?.()), loaders: new Map() };
      await authorizeTrail(now, this.projects, projectId);
      return null;
    } catch (error) {
      if (error instanceof PermissionDenied) await recordDenial(ctx, error);
      return toAppError(error).code;
    }
  }
}

/** The download of the trail. */
export const exportOf = (service: ExportService): Download => ({
  path: '/api/v1/audit-events/export',
  type: 'application/x-ndjson; charset=utf-8',
  open: (ctx, query, signal) => service.open(ctx, query, signal),
});

interface Bounds {
  readonly projectId: string | null;
  /** Number of the row before the first one. */
  readonly position: string;
  /** Rows above it may not be complete. */
  readonly settled: string;
  readonly signal: AbortSignal;
  /** Seals a position. */
  readonly write: (position: string) => string;
}

/** The lists that rows name, before the rows and once in an export. */
export async function* listsOf(
  ctx: Context,
  rows: readonly ExportedRow[],
  written: Set<string>,
): AsyncGenerator<string> {
  const digests = new Set(
    rows.flatMap(({ disclosed }) => (disclosed !== null && namesList(disclosed) ? [disclosed] : [])),
  );
  const missing = [...digests].filter((digest) => !written.has(digest));
  for (let at = 0; at < missing.length; at += LISTS_AT_ONCE) {
    const digests = missing.slice(at, at + LISTS_AT_ONCE).map((digest) => Buffer.from(digest, 'hex'));
    const lists = await listDisclosed(ctx, { digests, limit: null });
    for (const list of lists) yield `${secretsLine(list)}\n`;
  }
  if (written.size > MAX_WRITTEN) written.clear();
  for (const digest of missing) written.add(digest);
}

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
const secretsLine = ({ digest, ids }: { readonly digest: string; readonly ids: readonly string[] }): string =>
  JSON.stringify({ type: 'secrets', digest, ids });

/** Where an export can be continued, and whether it has come to the end of what is settled. */
const cursorLine = (cursor: string, isEnd: boolean): string => JSON.stringify({ type: 'cursor', cursor, isEnd });

/** Why an export has ended early. */
const errorLine = (code: string): string => JSON.stringify({ type: 'error', code });

/** So many are in memory at once, if they are short. */
export const ROWS_AT_ONCE = 500;
/** Facts of those, as they are stored. */
const MAX_BYTES = String(128 * 1024);

/** A position before all rows. */
export const BEFORE_FIRST_ROW = String(Number.MIN_SAFE_INTEGER);

interface RowRange {
  /** Null: of the whole organization. */
  readonly projectId: string | null;
  /** Number of the row before the first one. */
  readonly after: string;
  /** Rows above it may not be complete. */
  readonly settled: string;
  readonly most?: number;
}

/** Settled rows after a position, oldest first, and whether there are more. */
export async function readRows(
  ctx: Context,
  { projectId, after, settled, most = ROWS_AT_ONCE }: RowRange,
): Promise<{ readonly rows: readonly ExportedRow[]; readonly isMore: boolean }> {
  const bounds = { after, settled, limit: String(most), bytes: MAX_BYTES };
  const list = exportEvents({ owner: projectId === null ? 'organization' : 'project' });
  const rows = await list(ctx, { organizationId: ctx.organizationId, projectId, ...bounds });
  const found = rows[0]?.found ?? 0;
  return { rows, isMore: found === most || rows.length < found };
}
