import { raw as sql } from '@mikro-orm/core';
import { settledSequence } from '../../../../kernel/audit/settled.js';
import { authorize } from '../../../../kernel/authz/ability.js';
import type { Context, Transaction } from '../../../../kernel/context.js';
import { mintSigningSecret } from '../../../../kernel/crypto/token.js';
import { queryOf } from '../../../../kernel/database/database.js';
import { flush, inTransaction } from '../../../../kernel/database/in-transaction.js';
import { loadRow, lockRow } from '../../../../kernel/database/rows.js';
import { AppError } from '../../../../kernel/errors.js';
import { newId } from '../../../../kernel/ids.js';
import { orderedPageOf } from '../../../../kernel/list-order.js';
import type { TargetPolicy } from '../../../../kernel/outbound/http.js';
import { type Page, pageOf } from '../../../../kernel/paging.js';
import { parse } from '../../../../kernel/validation.js';
import { lockProject, type ProjectAccess, type ProjectReader } from '../../../projects/public.js';
import { positionAfterRecord } from '../../change-feed/public.js';
import { type DeliveryTest, enqueueDispatch, testTarget } from '../engine/delivery-job.js';
import type { TargetConfig } from '../engine/target.js';
import { openTarget, resealTarget, sealTarget } from '../engine/target-sealing.js';
import { ChangeWebhook } from './webhook.entity.js';
import { findWebhooks, listWebhooks, type WebhookRow } from './webhook.queries.js';
import { ListWebhooks, OneWebhook, type WebhookRules } from './webhook.rules.js';
import { CLOUD_EVENTS, testBody, WEBHOOKS } from './webhook-outlet.js';

const NOT_FOUND = 'CHANGE_WEBHOOK_NOT_FOUND';
const WEBHOOK = { find: findWebhooks, notFound: NOT_FOUND } as const;
const TABLE = WEBHOOKS.table;
const MAX_WEBHOOKS = 20;
const TAKEN = { change_webhook_name_unique: 'CHANGE_WEBHOOK_NAME_TAKEN' } as const;

/** A webhook with its new signing secret: the only time that it is shown. */
export interface IssuedWebhook {
  readonly webhook: WebhookRow;
  readonly signingSecret: string;
}

/**
 * Webhooks that get the changes of a project. A webhook gets all that its filters select, whatever its creator may read: who creates or
 * changes one needs permission to read the audit trail of the project too.
 *
 * Every method that takes `raw`, its unvalidated input, throws VALIDATION_FAILED, PROJECT_NOT_FOUND, PERMISSION_DENIED and
 * AUDIT_UNAVAILABLE.
 */
export class WebhookService {
  constructor(
    private readonly projects: ProjectReader,
    private readonly rules: WebhookRules,
    private readonly policy: TargetPolicy,
  ) {}

  /** Adds a webhook. It gets changes from now on. @throws CHANGE_WEBHOOK_NAME_TAKEN, CHANGE_WEBHOOKS_FULL, KEY_DISABLED */
  create(ctx: Context, raw: unknown): Promise<IssuedWebhook> {
    const { projectId: requested, name, url, isEnabled, ...filters } = parse(this.rules.create, raw);
    return inTransaction(ctx, async (tx) => {
      const project = await this.projects.authorized(tx, requested, 'webhooks:create');
      authorize(project, 'audit-logs:read');
      const { organizationId, projectId } = project;
      await lockProject(tx, project);
      if ((await listWebhooks(tx, { projectId })).length >= MAX_WEBHOOKS) throw new AppError('CHANGE_WEBHOOKS_FULL');
      const place = { id: newId(), organizationId, projectId, configVersion: 1 };
      const signingSecret = mintSigningSecret();
      const config = { url, signingSecret, eventKey: mintSigningSecret(), headers: [] };
      const begin = positionAfterRecord(await settledSequence(queryOf(tx)));
      tx.em.create(ChangeWebhook, {
        ...place,
        ...{ name, isEnabled, origin: new URL(url).origin },
        ...columnsOf(filters),
        configSealed: await sealTarget(tx, TABLE, place, config),
        position: String(begin.sequence),
        positionIndex: begin.index,
      });
      await flush(tx, TAKEN);
      if (isEnabled) await enqueueDispatch(tx);
      return { webhook: await changed(tx, 'change-webhook:create', place), signingSecret };
    });
  }

  /**
   * Updates a webhook. A pause after a failure ends. Events that it missed while it was disabled are sent when it is enabled.
   *
   * @throws CHANGE_WEBHOOK_NOT_FOUND, CHANGE_WEBHOOK_NAME_TAKEN, KEY_DISABLED; SEALED_VALUE_INVALID if its URL is changed and its signing
   *   secret cannot be decrypted
   */
  update(ctx: Context, raw: unknown): Promise<WebhookRow> {
    const { id, projectId, name, url, isEnabled, ...filters } = parse(this.rules.update, raw);
    return inTransaction(ctx, async (tx) => {
      const webhook = await this.#lockEditable(tx, { id, projectId });
      tx.em.assign(webhook, {
        name: name ?? webhook.name,
        isEnabled: isEnabled ?? webhook.isEnabled,
        ...columnsOf(filters),
        ...(url === undefined ? {} : { origin: new URL(url).origin, ...(await reseal(tx, webhook, { url })) }),
        nextAttemptAt: null,
        updatedAt: sql('now()'),
      });
      await flush(tx, TAKEN);
      if (webhook.isEnabled) await enqueueDispatch(tx);
      return changed(tx, 'change-webhook:update', webhook);
    });
  }

  /** Replaces the signing secret. Requests are signed with the new one from now on. @throws CHANGE_WEBHOOK_NOT_FOUND, KEY_DISABLED */
  rotateSecret(ctx: Context, raw: unknown): Promise<IssuedWebhook> {
    const ref = parse(OneWebhook, raw);
    return inTransaction(ctx, async (tx) => {
      const webhook = await this.#lockEditable(tx, ref);
      const signingSecret = mintSigningSecret();
      tx.em.assign(webhook, { ...(await reseal(tx, webhook, { signingSecret })), updatedAt: sql('now()') });
      await flush(tx);
      return { webhook: await changed(tx, 'change-webhook:rotate-secret', webhook), signingSecret };
    });
  }

  /** Deletes a webhook. @returns the deleted webhook @throws CHANGE_WEBHOOK_NOT_FOUND */
  delete(ctx: Context, raw: unknown): Promise<WebhookRow> {
    const ref = parse(OneWebhook, raw);
    return inTransaction(ctx, async (tx) => {
      const { projectId } = await this.projects.authorizedOwner(tx, ref, WEBHOOK, 'webhooks:delete');
      const webhook = await lockRow(tx, ChangeWebhook, { id: ref.id, projectId }, NOT_FOUND);
      const before = await changed(tx, 'change-webhook:delete', webhook);
      tx.em.remove(webhook);
      await flush(tx);
      return before;
    });
  }

  /** Returns one webhook. @throws CHANGE_WEBHOOK_NOT_FOUND */
  async get(ctx: Context, raw: unknown): Promise<WebhookRow> {
    const { row } = await this.projects.authorizedItem(ctx, parse(OneWebhook, raw), WEBHOOK, 'webhooks:read');
    await ctx.auditTrail.recordRead(ctx, auditOfRead(row));
    return row;
  }

  /** Lists webhooks of a project, by name by default. */
  async list(ctx: Context, raw: unknown): Promise<{ page: Page<WebhookRow>; totalCount: () => Promise<number> }> {
    const { projectId: requested, ...page } = parse(ListWebhooks, raw);
    const { projectId } = await this.projects.authorized(ctx, requested, 'webhooks:read');
    const rows = await listWebhooks(ctx, { projectId });
    const facts = { count: rows.length };
    await ctx.auditTrail.recordRead(ctx, { action: 'change-webhook:list', projectId, facts });
    const own = (own: readonly WebhookRow[], args: object) => pageOf(own, args, 1, ({ name }) => [name]);
    return { page: orderedPageOf(rows, page, { orderable: (row) => row, own }), totalCount: async () => rows.length };
  }

  /** Sends a test event once. The webhook may be disabled. The audit record is written before. @throws CHANGE_WEBHOOK_NOT_FOUND */
  async test(ctx: Context, raw: unknown): Promise<DeliveryTest> {
    const ref = parse(OneWebhook, raw);
    const webhook = await inTransaction(ctx, async (tx) => {
      const { row } = await this.projects.authorizedItem(tx, ref, WEBHOOK, 'webhooks:edit');
      await record(tx, 'change-webhook:test', row);
      return row;
    });
    return testTarget(ctx, CLOUD_EVENTS, {
      open: () => openTarget(ctx, TABLE, webhook),
      bodyOf: (config) => testBody(webhook, config),
      policy: this.policy,
    });
  }

  async #lockEditable(
    tx: Transaction,
    ref: { id: string; projectId?: string | null | undefined },
  ): Promise<ChangeWebhook> {
    const project: ProjectAccess = await this.projects.authorizedOwner(tx, ref, WEBHOOK, 'webhooks:edit');
    authorize(project, 'audit-logs:read');
    return lockRow(tx, ChangeWebhook, { id: ref.id, projectId: project.projectId }, NOT_FOUND);
  }
}

type Filters = Pick<ReturnType<WebhookRules['update']['parse']>, 'environment' | 'secretPath' | 'kinds'>;

/** Columns of the filters that are given. */
const columnsOf = ({ environment, secretPath, kinds }: Filters) => ({
  ...(environment === undefined ? {} : { environment }),
  ...(secretPath === undefined ? {} : { secretPath }),
  ...(kinds === undefined ? {} : { kinds: kinds ?? [] }),
});

const reseal = (tx: Transaction, webhook: ChangeWebhook, change: Partial<TargetConfig>) =>
  resealTarget(tx, TABLE, webhook, (before) => ({ ...before, ...change }));

interface WebhookRef {
  readonly id: string;
  readonly projectId: string;
}

async function changed(tx: Transaction, action: string, webhook: WebhookRef): Promise<WebhookRow> {
  await record(tx, action, webhook);
  return loadRow(tx, findWebhooks, { ids: [webhook.id] }, NOT_FOUND);
}

const record = (tx: Transaction, action: string, { id, projectId }: WebhookRef): Promise<void> =>
  tx.auditTrail.recordChange(tx, { action, projectId, facts: { changeWebhookId: id } });

/** The audit record of reading a webhook. */
export const auditOfRead = ({ id, projectId }: WebhookRef) => ({
  action: 'change-webhook:get',
  projectId,
  facts: { changeWebhookId: id },
});
