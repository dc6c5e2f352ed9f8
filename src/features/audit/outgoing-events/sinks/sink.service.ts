import { randomBytes } from 'node:crypto';
import { raw as sql } from '@mikro-orm/core';
import { settledSequence } from '../../../../kernel/audit/settled.js';
import { authorize } from '../../../../kernel/authz/ability.js';
import type { Context, Transaction } from '../../../../kernel/context.js';
import { mintSigningSecret } from '../../../../kernel/crypto/token.js';
import type { BatchLoad } from '../../../../kernel/database/batched.js';
import { queryOf } from '../../../../kernel/database/database.js';
import { flush, inTransaction } from '../../../../kernel/database/in-transaction.js';
import { loadRow, lockRow } from '../../../../kernel/database/rows.js';
import { AppError } from '../../../../kernel/errors.js';
import { newId } from '../../../../kernel/ids.js';
import { orderedPageOf } from '../../../../kernel/list-order.js';
import type { TargetPolicy } from '../../../../kernel/outbound/http.js';
import { type Page, pageOf } from '../../../../kernel/paging.js';
import { parse, validationFailed } from '../../../../kernel/validation.js';
import { lockOrganization } from '../../../identity/organizations/public.js';
import { positionAfterRecord } from '../../change-feed/public.js';
import { type DeliveryTest, enqueueDispatch, testTarget } from '../engine/delivery-job.js';
import type { TargetConfig } from '../engine/target.js';
import { openTarget, resealTarget, sealTarget } from '../engine/target-sealing.js';
import { AuditSink } from './sink.entity.js';
import { findSinks, listSinks, type SinkRow } from './sink.queries.js';
import { ListSinks, OneSink, type SinkRules } from './sink.rules.js';
import { formatOf, SINKS, testBody } from './sink-outlet.js';

const NOT_FOUND = 'AUDIT_SINK_NOT_FOUND';
const TABLE = SINKS.table;
const MAX_SINKS = 10;
const TAKEN = { audit_sink_name_unique: 'AUDIT_SINK_NAME_TAKEN' } as const;

/** A new sink and the secret that signs its requests, which is shown only now. */
interface IssuedSink {
  readonly sink: SinkRow;
  /** Null for a collector: it has headers. */
  readonly signingSecret: string | null;
}

/**
 * Sinks that get the audit trail of an organization. They get all of it, so that who manages them needs permission to read it as well as
 * to change the settings of the organization.
 *
 * Every method that takes `raw`, its unvalidated input, throws VALIDATION_FAILED, PERMISSION_DENIED and AUDIT_UNAVAILABLE.
 */
export class SinkService {
  constructor(
    private readonly rules: SinkRules,
    private readonly policy: TargetPolicy,
  ) {}

  /** Adds a sink. It gets records from now on. @throws AUDIT_SINK_NAME_TAKEN, AUDIT_SINKS_FULL */
  create(ctx: Context, raw: unknown): Promise<IssuedSink> {
    const { name, kind, url, headers, isEnabled } = parse(this.rules.create, raw);
    authorizeManaging(ctx);
    return inTransaction(ctx, async (tx) => {
      const { organizationId } = tx;
      await lockOrganization(tx, { organizationId });
      if ((await listSinks(tx, { organizationId })).length >= MAX_SINKS) throw new AppError('AUDIT_SINKS_FULL');
      const place = { id: newId(), organizationId, configVersion: 1 };
      const signingSecret = kind === 'webhook' ? mintSigningSecret() : null;
      const config = { url, signingSecret, eventKey: randomBytes(32).toString('base64url'), headers };
      const begin = positionAfterRecord(await settledSequence(queryOf(tx)));
      tx.em.create(AuditSink, {
        ...place,
        ...{ name, kind, isEnabled, origin: new URL(url).origin },
        configSealed: await sealTarget(tx, TABLE, { ...place, projectId: null }, config),
        position: String(begin.sequence),
        positionIndex: begin.index,
      });
      await flush(tx, TAKEN);
      if (isEnabled) await enqueueDispatch(tx);
      return { sink: await changed(tx, 'audit-sink:create', place), signingSecret };
    });
  }

  /**
   * Updates a sink. A pause after a failure ends. Records that it missed while it was disabled are sent when it is enabled.
   *
   * @throws AUDIT_SINK_NOT_FOUND, AUDIT_SINK_NAME_TAKEN, SEALED_VALUE_INVALID
   */
  update(ctx: Context, raw: unknown): Promise<SinkRow> {
    const { id, name, url, headers, isEnabled } = parse(this.rules.update, raw);
    authorizeManaging(ctx);
    return inTransaction(ctx, async (tx) => {
      const sink = await lock(tx, id);
      tx.em.assign(sink, {
        name: name ?? sink.name,
        isEnabled: isEnabled ?? sink.isEnabled,
        ...(url === undefined ? {} : { origin: new URL(url).origin }),
        ...(url === undefined && headers === undefined ? {} : await reseal(tx, sink, { url, headers })),
        nextAttemptAt: null,
        updatedAt: sql('now()'),
      });
      await flush(tx, TAKEN);
      if (sink.isEnabled) await enqueueDispatch(tx);
      return changed(tx, 'audit-sink:update', sink);
    });
  }

  /** Deletes a sink. @returns the deleted sink @throws AUDIT_SINK_NOT_FOUND */
  delete(ctx: Context, raw: unknown): Promise<SinkRow> {
    const { id } = parse(OneSink, raw);
    authorizeManaging(ctx);
    return inTransaction(ctx, async (tx) => {
      const sink = await lock(tx, id);
      const before = await changed(tx, 'audit-sink:delete', sink);
      tx.em.remove(sink);
      await flush(tx);
      return before;
    });
  }

  /** Returns one sink. @throws AUDIT_SINK_NOT_FOUND */
  async get(ctx: Context, raw: unknown): Promise<SinkRow> {
    const { id } = parse(OneSink, raw);
    authorize(ctx, 'audit-logs:read');
    const sink = await load(ctx, id);
    await ctx.auditTrail.recordRead(ctx, auditOfRead(sink));
    return sink;
  }

  /** Lists sinks, by name by default. */
  async list(ctx: Context, raw: unknown): Promise<{ page: Page<SinkRow>; totalCount: () => Promise<number> }> {
    const page = parse(ListSinks, raw);
    authorize(ctx, 'audit-logs:read');
    const rows = await listSinks(ctx, { organizationId: ctx.organizationId });
    await ctx.auditTrail.recordRead(ctx, { action: 'audit-sink:list', facts: { count: rows.length } });
    const own = (sinks: readonly SinkRow[], args: object) => pageOf(sinks, args, 1, ({ name }) => [name]);
    return { page: orderedPageOf(rows, page, { orderable: (row) => row, own }), totalCount: async () => rows.length };
  }

  /** Sends a test once. The sink may be disabled. The audit record is written before. @throws AUDIT_SINK_NOT_FOUND */
  async test(ctx: Context, raw: unknown): Promise<DeliveryTest> {
    const { id } = parse(OneSink, raw);
    authorizeManaging(ctx);
    const sink = await inTransaction(ctx, async (tx) => {
      const row = await load(tx, id);
      await record(tx, 'audit-sink:test', row);
      return row;
    });
    return testTarget(ctx, formatOf(sink), {
      open: () => openTarget(ctx, TABLE, sink),
      bodyOf: () => testBody(sink),
      policy: this.policy,
    });
  }

  /** Sinks by ID that a response links to. @throws PERMISSION_DENIED */
  readonly byIds: BatchLoad<SinkRow> = async (ctx, ids) => {
    authorize(ctx, 'audit-logs:read');
    const rows = await findSinks(ctx, { organizationId: ctx.organizationId, ids });
    return new Map(rows.map((row) => [row.id, row]));
  };
}

/** @throws PERMISSION_DENIED */
function authorizeManaging(ctx: Context): void {
  authorize(ctx, 'audit-logs:read');
  authorize(ctx, 'settings:edit');
}

const load = (ctx: Context, id: string): Promise<SinkRow> =>
  loadRow(ctx, findSinks, { organizationId: ctx.organizationId, ids: [id] }, NOT_FOUND);

const lock = (tx: Transaction, id: string): Promise<AuditSink> =>
  lockRow(tx, AuditSink, { id, organizationId: tx.organizationId }, NOT_FOUND);

type SinkChange = Pick<ReturnType<SinkRules['update']['parse']>, 'url' | 'headers'>;

function reseal(tx: Transaction, sink: AuditSink, change: SinkChange) {
  const { id, organizationId, configVersion, configSealed } = sink;
  const target = { id, organizationId, projectId: null, configVersion, configSealed };
  return resealTarget(tx, TABLE, target, changedConfig(change));
}

/** A changed configuration. @throws VALIDATION_FAILED */
const changedConfig =
  ({ url, headers }: SinkChange) =>
  (before: TargetConfig): TargetConfig => {
    const isElsewhere = url !== undefined && new URL(url).origin !== new URL(before.url).origin;
    // Nobody reads what is hidden by having it sent to a host of his own.
    if (isElsewhere && headers === undefined && before.headers.length > 0)
      throw validationFailed([
        { path: 'headers', code: 'MISSING', message: 'required when the host of the URL changes' },
      ]);
    return { ...before, url: url ?? before.url, headers: headers ?? before.headers };
  };

async function changed(tx: Transaction, action: string, sink: { readonly id: string }): Promise<SinkRow> {
  await record(tx, action, sink);
  return load(tx, sink.id);
}

const record = (tx: Transaction, action: string, { id }: { readonly id: string }): Promise<void> =>
  tx.auditTrail.recordChange(tx, { action, facts: { auditSinkId: id } });

/** The audit record of reading a sink. */
export const auditOfRead = ({ id }: { readonly id: string }) => ({
  action: 'audit-sink:get',
  facts: { auditSinkId: id },
});
