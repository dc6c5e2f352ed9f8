import { authorize } from '../../../kernel/authz/ability.js';
import type { Context } from '../../../kernel/context.js';
import { type BatchLoad, batched, batchOfLists, batchOfOwned, listKey } from '../../../kernel/database/batched.js';
import { inTransaction } from '../../../kernel/database/in-transaction.js';
import { loadRow } from '../../../kernel/database/rows.js';
import { AppError } from '../../../kernel/errors.js';
import type { CountedConnectionOf } from '../../../kernel/paging.js';
import { parse } from '../../../kernel/validation.js';
import type { ProjectReader } from '../../projects/public.js';
import { findAlerts } from '../alerts/public.js';
import {
  type MessageBounds,
  MessagePage,
  type MessagePageRequest,
  messageBounds,
  messagePage,
  NEWEST_MESSAGE,
  type RetriedCount,
  retry,
  retryMany,
  type Undelivered,
  undeliveredOf,
} from '../deliveries/public.js';
import {
  countsOfMessages,
  findMessages,
  listFirstCertificates,
  listMessages,
  type MessageRow,
} from './alert-delivery.queries.js';
import { ListMessages, OneMessage, RetryMessage, RetryMessages } from './alert-delivery.rules.js';
import { listLastRuns, type RunRow, retryMessages } from './alert-delivery.sql.js';
import { CERTIFICATE_SOURCE } from './certificate-source.js';

const ALERT_NOT_FOUND = 'CERTIFICATE_ALERT_NOT_FOUND';
const ALERT = { find: findAlerts, notFound: ALERT_NOT_FOUND } as const;
const NOT_FOUND = 'ALERT_MESSAGE_NOT_FOUND';
const MESSAGE = { find: findMessages, notFound: NOT_FOUND } as const;

/** Number of certificates shown with a message. */
const CERTIFICATES_SHOWN = 20;

/** An alert nested in a response. */
interface ShownAlert {
  readonly id: string;
  readonly projectId: string;
}

/**
 * Sent, pending and failed messages of alerts.
 *
 * Every method that takes `raw`, its unvalidated input, throws VALIDATION_FAILED, PERMISSION_DENIED and AUDIT_UNAVAILABLE.
 */
export class MessageService {
  constructor(private readonly projects: ProjectReader) {}

  /** Returns one message. @throws ALERT_MESSAGE_NOT_FOUND */
  async get(ctx: Context, raw: unknown): Promise<MessageRow> {
    const { row } = await this.projects.authorizedItem(ctx, parse(OneMessage, raw), MESSAGE, 'pki-alerts:read');
    await ctx.auditTrail.recordRead(ctx, auditOfRead(row));
    return row;
  }

  /** Lists messages of an alert, newest first. @throws CERTIFICATE_ALERT_NOT_FOUND */
  async list(ctx: Context, raw: unknown): Promise<CountedConnectionOf<MessageRow>> {
    const { alertId, ...request } = parse(ListMessages, raw);
    const bounds = messageBounds(request);
    const { row } = await this.projects.authorizedItem(ctx, { id: alertId }, ALERT, 'pki-alerts:read');
    return shown(ctx, row, { request, rows: await listMessages(ctx, { ids: [row.id], ...bounds }) });
  }

  /** Like `list`, for an alert nested in a response. All alerts share one statement. */
  async pageOfAlert(ctx: Context, alert: ShownAlert, raw: unknown): Promise<CountedConnectionOf<MessageRow>> {
    const request = parse(MessagePage, raw);
    const bounds = messageBounds(request);
    await this.authorize(ctx, alert);
    return shown(ctx, alert, { request, rows: (await batched(ctx, messagesByAlert, listKey(alert.id, bounds))) ?? [] });
  }

  /** The newest message of an alert nested in a response; null if it has none. */
  async lastOfAlert(ctx: Context, alert: ShownAlert): Promise<MessageRow | null> {
    await this.authorize(ctx, alert);
    const [last] = (await batched(ctx, messagesByAlert, listKey(alert.id, NEWEST_MESSAGE))) ?? [];
    return last ?? null;
  }

  /** The last run of an alert nested in a response; null if it never ran. All alerts share one statement. */
  async lastRunOf(ctx: Context, alert: ShownAlert): Promise<RunRow | null> {
    await this.authorize(ctx, alert);
    return (await batched(ctx, lastRuns, alert.id)) ?? null;
  }

  /** What nobody was notified of by an alert nested in a response; null if there is nothing. All alerts share one statement. */
  async undeliveredOf(ctx: Context, alert: ShownAlert): Promise<Undelivered | null> {
    await this.authorize(ctx, alert);
    return undeliveredOf(ctx, alert.id);
  }

  /** IDs of the certificates of a message that expire first. All messages share one statement. */
  async firstCertificateIds(ctx: Context, { id }: Pick<MessageRow, 'id'>): Promise<readonly string[]> {
    return ((await batched(ctx, certificatesByMessage, id)) ?? []).map(({ certificateId }) => certificateId);
  }

  /**
   * Retries a failed or cancelled message for another three days.
   *
   * @throws ALERT_MESSAGE_NOT_FOUND; ALERT_MESSAGE_NOT_RETRYABLE if it is pending or was sent
   */
  retry(ctx: Context, raw: unknown): Promise<MessageRow> {
    const { id, alertId } = parse(RetryMessage, raw);
    return inTransaction(ctx, async (tx) => {
      const { row } = await this.projects.authorizedItem(tx, { id }, MESSAGE, 'pki-alerts:edit');
      if (alertId != null && alertId.toLowerCase() !== row.alertId) throw new AppError(NOT_FOUND);
      const stateBefore = await retry(tx, CERTIFICATE_SOURCE, row.id);
      if (stateBefore === null) throw new AppError('ALERT_MESSAGE_NOT_RETRYABLE');
      const facts = { alertId: row.alertId, messageId: row.id, stateBefore };
      await tx.auditTrail.recordChange(tx, {
        action: 'certificate-alert:retry-message',
        projectId: row.projectId,
        facts,
      });
      return loadRow(tx, findMessages, { ids: [row.id] }, NOT_FOUND);
    });
  }

  /**
   * Retries failed and cancelled messages of a project: of all its enabled alerts and channels, or of one alert or channel.
   *
   * @throws PROJECT_NOT_FOUND; CERTIFICATE_ALERT_NOT_FOUND if the project has no such alert
   */
  retryMany(ctx: Context, raw: unknown): Promise<RetriedCount> {
    const { projectId: wanted, alertId = null, ...given } = parse(RetryMessages, raw);
    return inTransaction(ctx, async (tx) => {
      const { organizationId, projectId } = await this.projects.authorized(tx, wanted, 'pki-alerts:edit');
      if (alertId !== null) {
        const alert = await loadRow(tx, findAlerts, { ids: [alertId] }, ALERT_NOT_FOUND);
        if (alert.projectId !== projectId) throw new AppError(ALERT_NOT_FOUND);
      }
      const retried = { organizationId, projectId, ownerId: alertId, ...given };
      const source = { ...CERTIFICATE_SOURCE, statement: retryMessages, ofId: projectId };
      const record = {
        action: 'certificate-alert:retry-messages',
        ...(alertId === null ? {} : { facts: { alertId } }),
      };
      return retryMany(tx, source, retried, record);
    });
  }

  private async authorize(ctx: Context, { projectId }: ShownAlert): Promise<void> {
    authorize(await this.projects.loadOwning(ctx, projectId, ALERT_NOT_FOUND), 'pki-alerts:read');
  }
}

const messagesByAlert = batchOfLists<MessageRow, MessageBounds>(
  (ctx, ids, bounds) => listMessages(ctx, { ids, ...bounds }),
  ({ alertId }) => alertId,
);

const lastRuns: BatchLoad<RunRow> = async (ctx, alertIds) =>
  new Map((await listLastRuns(ctx, { alertIds })).map((run) => [run.alertId, run]));

const certificatesByMessage = batchOfOwned(
  (ctx, messageIds) => listFirstCertificates(ctx, { messageIds, most: CERTIFICATES_SHOWN }),
  ({ messageId }) => messageId,
);

async function shown(
  ctx: Context,
  { id, projectId }: ShownAlert,
  { request, rows }: { readonly request: MessagePageRequest; readonly rows: readonly MessageRow[] },
): Promise<CountedConnectionOf<MessageRow>> {
  const page = messagePage(ctx, rows, request, { ownerId: id, counts: countsOfMessages });
  await ctx.auditTrail.recordRead(ctx, {
    action: 'certificate-alert:list-messages',
    projectId,
    facts: { alertId: id, count: page.nodes.length },
  });
  return page;
}

/** The audit record of reading a message. */
export const auditOfRead = ({ id, alertId, projectId }: Pick<MessageRow, 'id' | 'alertId' | 'projectId'>) => ({
  action: 'certificate-alert:get-message',
  projectId,
  facts: { alertId, messageId: id },
});
