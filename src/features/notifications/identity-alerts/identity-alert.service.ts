import { raw as sql } from '@mikro-orm/core';
import type { AuditFacts } from '../../../kernel/audit/audit-record.js';
import type { Context, Transaction } from '../../../kernel/context.js';
import { type BatchLoad, batched } from '../../../kernel/database/batched.js';
import { flush, inTransaction } from '../../../kernel/database/in-transaction.js';
import { lockRow } from '../../../kernel/database/rows.js';
import { AppError } from '../../../kernel/errors.js';
import { orderedPageOf } from '../../../kernel/list-order.js';
import { counted, type Page } from '../../../kernel/paging.js';
import { parse } from '../../../kernel/validation.js';
import { refuseOtherVersion } from '../../../kernel/value-rules.js';
import {
  type ChannelChange,
  type ChannelStore,
  changesOf,
  replaceChannels,
  toChannelInputs,
} from '../alerts/public.js';
import { type RetriedCount, retryMany, wakeSenders } from '../deliveries/public.js';
import { type AlertAccess, EDIT } from './alert-access.js';
import { retryMessages } from './credential.sql.js';
import { CREDENTIAL_SOURCE } from './credential-source.js';
import { enqueueAlertChecks } from './due.service.js';
import { IdentityAlert, IdentityAlertChannel } from './identity-alert.entity.js';
import {
  type AlertView,
  CHANNEL_TABLE,
  findAlertViews,
  listAlerts,
  listAlertsOf,
  withChannels,
} from './identity-alert.queries.js';
import { type AlertRules, ListAlerts, NEWEST_FIRST, OneAlert, RetryMessages } from './identity-alert.rules.js';

const NOT_FOUND = 'IDENTITY_ALERT_NOT_FOUND';
const CONSTRAINTS = {
  identity_alert_name_unique: 'IDENTITY_ALERT_NAME_TAKEN',
  identity_alert_project_id_fkey: 'PROJECT_NOT_FOUND',
  identity_alert_identity_id_fkey: 'IDENTITY_NOT_FOUND',
} as const;
const CHANNELS: ChannelStore = { table: CHANNEL_TABLE, entity: IdentityAlertChannel };

/** A page of alerts, and how many there are in all. */
type ListedAlerts = Page<AlertView> & { readonly totalCount: () => Promise<number> };

/**
 * Alerts of identities: who is notified before credentials of an identity expire, and how. Configs of channels are sealed; views have
 * them as they are stored.
 *
 * Every method that takes `raw`, the input of its rules, throws VALIDATION_FAILED, PERMISSION_DENIED and AUDIT_UNAVAILABLE.
 */
export class IdentityAlertService {
  constructor(
    private readonly access: AlertAccess,
    private readonly rules: AlertRules,
  ) {}

  /** Creates an alert. @throws PROJECT_NOT_FOUND, IDENTITY_NOT_FOUND, IDENTITY_ALERT_NAME_TAKEN */
  create(ctx: Context, raw: unknown): Promise<AlertView> {
    const {
      projectId,
      identityId,
      name,
      description = null,
      alertBefore,
      hasDailyReminder,
      isEnabled,
      channels,
    } = parse(this.rules.create, raw);
    return inTransaction(ctx, async (tx) => {
      const owner = await this.access.owner(tx, { projectId, identityId });
      const alert = tx.em.create(IdentityAlert, {
        ...owner,
        name,
        description,
        alertBeforeDays: daysOf(alertBefore),
        isDailyReminder: hasDailyReminder,
        isEnabled,
      });
      await flush(tx, CONSTRAINTS);
      // A new alert has no channel that an id could name.
      await setChannels(
        tx,
        alert,
        channels.map((channel) => ({ ...channel, id: undefined })),
      );
      await enqueueAlertChecks(tx, [alert]);
      return changed(tx, 'identity-alert:create', alert);
    });
  }

  /**
   * Changes an alert. Channels that are given replace the existing ones: one that is named by its id keeps its config where none is given.
   *
   * @throws IDENTITY_ALERT_NOT_FOUND, IDENTITY_ALERT_NAME_TAKEN; CONCURRENT_CHANGE for another `expectedVersion`; SEALED_VALUE_INVALID
   *   where a signing secret stays that cannot be decrypted
   */
  update(ctx: Context, raw: unknown): Promise<AlertView> {
    const { id, expectedVersion, channels, alertBefore, isEnabled, hasDailyReminder, ...given } = parse(
      this.rules.update,
      raw,
    );
    return inTransaction(ctx, async (tx) => {
      const row = await this.access.load(tx, id, EDIT);
      const alert = await lockRow(tx, IdentityAlert, { id: row.id, organizationId: row.organizationId }, NOT_FOUND);
      refuseOtherVersion(alert.version, expectedVersion);
      const alertBeforeDays = alertBefore === undefined ? undefined : daysOf(alertBefore);
      const changes = changesOf(alert, {
        ...given,
        alertBeforeDays,
        isEnabled,
        isDailyReminder: hasDailyReminder,
      });
      const fields = Object.keys(changes);
      const channelChange = channels === undefined ? null : await setChannels(tx, alert, channels);
      if (channelChange !== null) fields.push('channels');
      if (fields.length > 0) {
        tx.em.assign(alert, { ...changes, version: alert.version + 1, updatedAt: sql('now()') });
        await flush(tx, CONSTRAINTS);
        await enqueueAlertChecks(tx, [alert]);
        // Messages of an alert that is disabled are cancelled.
        await wakeSenders(
          tx,
          CREDENTIAL_SOURCE,
          { ...placeOf(alert), ownerId: alert.id },
          channelChange?.configuredIds ?? [],
        );
      }
      return changed(tx, 'identity-alert:update', alert, { changed: fields.sort() });
    });
  }

  /** Deletes an alert. @returns the alert as it was @throws IDENTITY_ALERT_NOT_FOUND */
  delete(ctx: Context, raw: unknown): Promise<AlertView> {
    const { id } = parse(OneAlert, raw);
    return inTransaction(ctx, async (tx) => {
      const row = await this.access.load(tx, id, EDIT);
      const alert = await lockRow(tx, IdentityAlert, { id: row.id, organizationId: row.organizationId }, NOT_FOUND);
      const before = await changed(tx, 'identity-alert:delete', alert);
      tx.em.remove(alert);
      await flush(tx);
      return before;
    });
  }

  /** Retries failed and cancelled messages of an alert, of its enabled channels or of one of them. @throws IDENTITY_ALERT_NOT_FOUND */
  retryMessages(ctx: Context, raw: unknown): Promise<RetriedCount> {
    const { id, ...given } = parse(RetryMessages, raw);
    return inTransaction(ctx, async (tx) => {
      const { id: ownerId, organizationId, projectId, identityId } = await this.access.load(tx, id, EDIT);
      const retried = { organizationId, projectId, ownerId, ...given };
      const source = { ...CREDENTIAL_SOURCE, statement: retryMessages, ofId: ownerId };
      const facts = { alertId: ownerId, identityId };
      return retryMany(tx, source, retried, { action: 'identity-alert:retry-messages', facts });
    });
  }

  /** One alert. @throws IDENTITY_ALERT_NOT_FOUND */
  async get(ctx: Context, raw: unknown): Promise<AlertView> {
    const { id } = parse(OneAlert, raw);
    const row = await this.access.load(ctx, id, ['identity:read']);
    const [alert] = await withChannels(ctx, [row]);
    await ctx.auditTrail.recordRead(ctx, auditOfRead(row));
    return alert as AlertView;
  }

  /**
   * Alerts of a project, or of the organization itself, newest first, or in another order: those that the caller may read.
   *
   * @throws PROJECT_NOT_FOUND, IDENTITY_NOT_FOUND
   */
  async list(ctx: Context, raw: unknown): Promise<ListedAlerts> {
    const { projectId: wanted = null, identityId = null, ...page } = parse(ListAlerts, raw);
    const { projectId, isReadable } = await this.access.list(ctx, { projectId: wanted, identityId });
    const rows = await listAlerts(ctx, { organizationId: ctx.organizationId, projectId, identityId });
    const alerts = await withChannels(ctx, rows.filter(isReadable));
    const request = { ...page, orderBy: page.orderBy ?? NEWEST_FIRST };
    const shown = orderedPageOf(alerts, request, { orderable: (alert) => alert });
    await recordList(ctx, projectId, shown.nodes.length);
    return counted(shown, async () => alerts.length);
  }

  /** Alerts of an identity that is part of a larger response, newest first, those that the caller may read; all identities share their statements. */
  async listOfIdentity(ctx: Context, identityId: string): Promise<readonly AlertView[]> {
    const alerts = (await batched(ctx, this.#ofIdentities, identityId)) ?? [];
    await recordList(ctx, null, alerts.length);
    return alerts;
  }

  readonly #ofIdentities: BatchLoad<readonly AlertView[]> = async (ctx, identityIds) => {
    const rows = await listAlertsOf(ctx, { organizationId: ctx.organizationId, identityIds });
    const readable = await this.access.readable(ctx, rows);
    const shown = rows.filter(({ id }) => readable.has(id) && !(readable.get(id) instanceof Error));
    return Map.groupBy(await withChannels(ctx, shown), ({ identityId }) => identityId);
  };
}

/** Makes these the channels of an alert, which is locked. @returns what changed; null if nothing did @throws as `replaceChannels` */
const setChannels = (
  tx: Transaction,
  { organizationId, projectId = null, id: alertId }: IdentityAlert,
  given: Parameters<typeof toChannelInputs>[0],
): Promise<ChannelChange | null> =>
  replaceChannels(tx, { store: CHANNELS, owner: { organizationId, projectId }, alertId }, toChannelInputs(given));

const placeOf = ({ id, organizationId, projectId = null }: IdentityAlert) => ({ id, organizationId, projectId });

/** `30d` is 30. */
const daysOf = (alertBefore: string): number => Number.parseInt(alertBefore, 10);

interface AlertIds {
  readonly id: string;
  readonly projectId?: string | null | undefined;
  readonly identityId: string;
}

async function changed(
  tx: Transaction,
  action: string,
  { id, projectId = null, identityId }: AlertIds,
  facts: AuditFacts = {},
): Promise<AlertView> {
  await tx.auditTrail.recordChange(tx, { action, projectId, facts: { alertId: id, identityId, ...facts } });
  const [alert] = await findAlertViews(tx, [id]);
  if (alert === undefined) throw new AppError(NOT_FOUND);
  return alert;
}

/** What the audit trail says of an alert that is shown. */
export const auditOfRead = ({ id, projectId = null, identityId }: AlertIds) => ({
  action: 'identity-alert:get',
  projectId,
  facts: { alertId: id, identityId },
});

const recordList = (ctx: Context, projectId: string | null, count: number): Promise<void> =>
  ctx.auditTrail.recordRead(ctx, { action: 'identity-alert:list', projectId, facts: { count } });
