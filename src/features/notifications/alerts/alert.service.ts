import { raw as sql } from '@mikro-orm/core';
import { authorize } from '../../../kernel/authz/ability.js';
import { canonicalJson } from '../../../kernel/canonical-json.js';
import type { Context, Transaction } from '../../../kernel/context.js';
import { batched, batchOfLists, listKey } from '../../../kernel/database/batched.js';
import { flush, inTransaction } from '../../../kernel/database/in-transaction.js';
import { lockRow } from '../../../kernel/database/rows.js';
import { AppError, invalid } from '../../../kernel/errors.js';
import { type OrderedRequest, orderedCursorKey, orderedPageBounds, orderedPageOf } from '../../../kernel/list-order.js';
import { counted, Page } from '../../../kernel/paging.js';
import { parse, validationFailed } from '../../../kernel/validation.js';
import { refuseOtherVersion } from '../../../kernel/value-rules.js';
import { refuseOtherType } from '../../certificates/public.js';
import type { ProjectAccess, ProjectReader } from '../../projects/public.js';
import { CertificateAlert } from './alert.entity.js';
import {
  type AlertFilters,
  type AlertView,
  alertFilters,
  countAlerts,
  findAlerts,
  findAlertViews,
  listAlertsInOrder,
  listAlertsOf,
  withChannels,
} from './alert.queries.js';
import { AlertPage, type AlertRules, ListAlerts, NEWEST_FIRST, OneAlert } from './alert.rules.js';
import { toChannelInputs } from './channel.rules.js';
import { CERTIFICATE_CHANNELS, replaceChannels } from './channel-changes.js';

const NOT_FOUND = 'CERTIFICATE_ALERT_NOT_FOUND';
const ALERT = { find: findAlerts, notFound: NOT_FOUND } as const;

/**
 * Alerts on certificate events of a project. Configs of channels are sealed, and views return them sealed.
 *
 * Every method that takes `raw`, its unvalidated input, throws VALIDATION_FAILED, PERMISSION_DENIED and AUDIT_UNAVAILABLE.
 */
export class AlertService {
  constructor(
    private readonly projects: ProjectReader,
    private readonly rules: AlertRules,
  ) {}

  /**
   * Creates an alert.
   *
   * @throws PROJECT_NOT_FOUND; VALIDATION_FAILED (WRONG_PROJECT_TYPE) if the project is not of type `cert-manager`
   * Source: operation 11 of the specification.
   */
  create(ctx: Context, raw: unknown): Promise<AlertView> {
    const {
      projectId: wanted,
      description = null,
      isEnabled,
      hasDailyReminder,
      channels,
      ...content
    } = parse(this.rules.create, raw);
    // A new alert has no channels yet that an ID could refer to.
    const given = toChannelInputs(channels).map((channel) => ({ ...channel, id: null }));
    return inTransaction(ctx, async (tx) => {
      const project = await this.projects.authorized(tx, wanted, 'pki-alerts:create');
      refuseOtherType(project);
      const { organizationId, projectId } = project;
      const alert = tx.em.create(CertificateAlert, {
        organizationId,
        projectId,
        description,
        isEnabled,
        isDailyReminder: hasDailyReminder,
        ...content,
      });
      await flush(tx, { certificate_alert_project_id_fkey: 'PROJECT_NOT_FOUND' });
      await replaceChannels(tx, channelsOf(project, alert.id), given);
      await tx.events.alertChanged(tx, alert, []);
      await record(tx, 'certificate-alert:create', alert);
      return load(tx, alert.id);
    });
  }

  /**
   * Updates an alert. Given channels replace the existing ones; a channel with the ID of an existing one and no config keeps its config.
   *
   * @throws CERTIFICATE_ALERT_NOT_FOUND; CONCURRENT_CHANGE if `expectedVersion` differs; VALIDATION_FAILED also as in `replaceChannels`
   * Source: operation 12 of the specification.
   */
  update(ctx: Context, raw: unknown): Promise<AlertView> {
    const { id, expectedVersion, channels, isEnabled, hasDailyReminder, ...given } = parse(this.rules.update, raw);
    return inTransaction(ctx, async (tx) => {
      const project = await this.projects.authorizedOwner(tx, { id }, ALERT, 'pki-alerts:edit');
      const alert = await lockRow(tx, CertificateAlert, { id, projectId: project.projectId }, NOT_FOUND);
      refuseOtherVersion(alert.version, expectedVersion);
      const isDailyReminder = reminderOf(alert, { ...given, hasDailyReminder });
      const changes = changesOf(alert, { ...given, isEnabled, isDailyReminder });
      const changed = Object.keys(changes);
      const own = channelsOf(project, alert.id);
      const channelChange = channels === undefined ? null : await replaceChannels(tx, own, toChannelInputs(channels));
      if (channelChange !== null) changed.push('channels');
      if (changed.length > 0) {
        tx.em.assign(alert, { ...changes, version: alert.version + 1, updatedAt: sql('now()') });
        await flush(tx);
        await tx.events.alertChanged(tx, alert, channelChange?.configuredIds ?? []);
      }
      await record(tx, 'certificate-alert:update', alert, { changed: changed.sort() });
      return load(tx, alert.id);
    });
  }

  /** Deletes an alert. @returns the deleted alert @throws CERTIFICATE_ALERT_NOT_FOUND */
  delete(ctx: Context, raw: unknown): Promise<AlertView> {
    const { id } = parse(OneAlert, raw);
    return inTransaction(ctx, async (tx) => {
      const { projectId } = await this.projects.authorizedOwner(tx, { id }, ALERT, 'pki-alerts:delete');
      const alert = await lockRow(tx, CertificateAlert, { id, projectId }, NOT_FOUND);
      const before = await load(tx, alert.id);
      tx.em.remove(alert);
      await flush(tx);
      await record(tx, 'certificate-alert:delete', before);
      return before;
    });
  }

  /** Returns one alert. @throws CERTIFICATE_ALERT_NOT_FOUND */
  async get(ctx: Context, raw: unknown): Promise<AlertView> {
    const { row } = await this.projects.authorizedItem(ctx, parse(OneAlert, raw), ALERT, 'pki-alerts:read');
    const [alert] = await withChannels(ctx, [row]);
    await ctx.auditTrail.recordRead(ctx, auditOfRead(row));
    return alert as AlertView;
  }

  /** Lists alerts of a project, newest first by default. @throws PROJECT_NOT_FOUND */
  async list(ctx: Context, raw: unknown): Promise<ListedAlerts> {
    const { projectId: wanted, offset, ...given } = parse(ListAlerts, raw);
    const request = inAlertOrder(given);
    const bounds = orderedPageBounds(request);
    const filters = alertFilters(given);
    const { projectId } = await this.projects.authorized(ctx, wanted, 'pki-alerts:read');
    const rows = await listAlertsInOrder(ctx, request.orderBy, {
      projectId,
      offset: offset ?? 0,
      ...filters,
      ...bounds,
    });
    const alerts = await withChannels(ctx, rows);
    const page = new Page(alerts, request, (alert) => orderedCursorKey(request, alert));
    await recordList(ctx, projectId, page.nodes.length);
    return counted(page, async () => (await countAlerts(ctx, { projectId, ...filters }))[0]?.count ?? 0);
  }

  /**
   * Lists alerts of a project nested in a response, with the filters and orders of `list`. All projects of the response share two
   * statements.
   */
  async listInProject(ctx: Context, project: ProjectAccess, raw: unknown): Promise<ListedAlerts> {
    const given = parse(AlertPage, raw);
    authorize(project, 'pki-alerts:read');
    const alerts = (await batched(ctx, alertsByProject, listKey(project.projectId, alertFilters(given)))) ?? [];
    const page = orderedPageOf(alerts, inAlertOrder(given), { orderable: (alert) => alert });
    await recordList(ctx, project.projectId, page.nodes.length);
    return counted(page, async () => alerts.length);
  }
}

const channelsOf = (owner: ProjectAccess, alertId: string) => ({ store: CERTIFICATE_CHANNELS, owner, alertId });

/** One page of alerts and the total count. */
export type ListedAlerts = Page<AlertView> & { readonly totalCount: () => Promise<number> };

const alertsByProject = batchOfLists<AlertView, AlertFilters>(
  async (ctx, projectIds, filters) => withChannels(ctx, await listAlertsOf(ctx, { projectIds, ...filters })),
  ({ projectId }) => projectId,
);

/** Loads the alert or throws. */
async function load(ctx: Context, id: string): Promise<AlertView> {
  const [alert] = await findAlertViews(ctx, { ids: [id] });
  if (alert === undefined) throw new AppError(NOT_FOUND);
  return alert;
}

/** Whether an updated alert repeats daily: false if its event is not expiration. @throws VALIDATION_FAILED if true was requested */
function reminderOf(
  { eventType, isDailyReminder }: CertificateAlert,
  given: { readonly eventType?: string | undefined; readonly hasDailyReminder?: boolean | undefined },
): boolean {
  if ((given.eventType ?? eventType) === 'expiration') return given.hasDailyReminder ?? isDailyReminder;
  if (given.hasDailyReminder !== true) return false;
  const message = 'must be false unless the event is expiration';
  throw validationFailed([invalid('hasDailyReminder', message)]);
}

/** The given fields whose value differs from the current one. */
export const changesOf = <T extends object>(before: T, given: Partial<Record<keyof T, unknown>>): Partial<T> =>
  Object.fromEntries(
    Object.entries(given).filter(
      ([field, value]) => value !== undefined && canonicalJson(value) !== canonicalJson(before[field as keyof T]),
    ),
  ) as Partial<T>;

/** The audit record of reading an alert. */
export const auditOfRead = ({ id, projectId }: { readonly id: string; readonly projectId: string }) => ({
  action: 'certificate-alert:get',
  projectId,
  facts: { alertId: id },
});

const recordList = (ctx: Context, projectId: string, count: number): Promise<void> =>
  ctx.auditTrail.recordRead(ctx, { action: 'certificate-alert:list', projectId, facts: { count } });

const record = (
  tx: Transaction,
  action: string,
  { id, projectId, version }: { readonly id: string; readonly projectId: string; readonly version: number },
  facts: Readonly<Record<string, readonly string[]>> = {},
): Promise<void> => tx.auditTrail.recordChange(tx, { action, projectId, facts: { alertId: id, version, ...facts } });

/** The request with the default order of alerts if it has none. */
const inAlertOrder = ({ first, after, orderBy, updatedSince }: OrderedRequest) => ({
  ...{ first, after, updatedSince },
  orderBy: orderBy ?? NEWEST_FIRST,
});
