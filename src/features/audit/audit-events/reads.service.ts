import type { Context } from '../../../kernel/context.js';
import { type Together, together } from '../../../kernel/database/batched.js';
import { SealedCursors } from '../../../kernel/graphql/sealed-cursors.js';
import { SoughtPage } from '../../../kernel/paging.js';
import { parse } from '../../../kernel/validation.js';
import type { ProjectReader } from '../../projects/public.js';
import { SecretReadsPage } from './event.rules.js';
import { keyOf } from './event.service.js';
import type { EventRow } from './event.sql.js';
import { authorizeTrail } from './event-access.js';
import { listReads } from './reads.sql.js';

/** A secret that a response shows. */
interface ShownSecret {
  readonly id: string;
  readonly projectId: string;
}

/** Who read the values of secrets. Every method throws VALIDATION_FAILED, PERMISSION_DENIED and AUDIT_UNAVAILABLE. */
export class ReadsService {
  constructor(private readonly projects: ProjectReader) {}

  /**
   * Events whose responses had the value of a secret, also inserted into another one or by an import, newest first. All secrets of a
   * response share one statement.
   *
   * @param raw `{ first, after }`
   */
  async listOf(ctx: Context, { id, projectId }: ShownSecret, raw: unknown): Promise<SoughtPage<EventRow>> {
    const request = parse(SecretReadsPage, raw);
    const cursors = new SealedCursors(ctx, 'secretReads', { id });
    const [before = null] = cursors.read(request.after, 1) ?? [];
    await authorizeTrail(ctx, this.projects, projectId);
    const rows = await together(ctx, readsOfMany, { id, before, limit: request.first + 1 });
    const page = new SoughtPage(rows, request, keyOf, { cursors, stoppedAt: null });
    const facts = { secretId: id, count: page.nodes.length };
    await ctx.auditTrail.recordRead(ctx, { action: 'audit-event:list-reads', projectId, facts });
    return page;
  }
}

/** The reads of a secret that are asked for. */
interface WantedReads {
  readonly id: string;
  readonly before: string | null;
  readonly limit: number;
}

const readsOfMany: Together<WantedReads, readonly EventRow[]> = async (ctx, wanted) => {
  const rows = await listReads(ctx, {
    ids: wanted.map(({ id }) => id),
    befores: wanted.map(({ before }) => before),
    organizationId: ctx.organizationId,
    limit: String(Math.max(...wanted.map(({ limit }) => limit))),
  });
  const pages = Map.groupBy(rows, ({ place }) => place);
  return wanted.map(({ limit }, at) => (pages.get(at + 1) ?? []).slice(0, limit));
};
