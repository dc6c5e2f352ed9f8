import { raw as sql } from '@mikro-orm/core';
import { authorize } from '../../../kernel/authz/ability.js';
import type { Context, Transaction } from '../../../kernel/context.js';
import { batched, batchOfOwned } from '../../../kernel/database/batched.js';
import { flush, inTransaction } from '../../../kernel/database/in-transaction.js';
import { loadRow, lockRow } from '../../../kernel/database/rows.js';
import { AppError } from '../../../kernel/errors.js';
import { newId } from '../../../kernel/ids.js';
import { orderedPageOf } from '../../../kernel/list-order.js';
import { counted, type Page, pageOf } from '../../../kernel/paging.js';
import { parse, refuseViolations } from '../../../kernel/validation.js';
import { lockProject, type ProjectAccess, type ProjectReader } from '../../projects/public.js';
import {
  configSealer,
  openConfig,
  openForNewMessages,
  recipientViolations,
  sealConfig,
  sealedChannels,
  withKeptSecret,
} from '../alerts/public.js';
import { type ChannelTestResult, TEST_LIMIT_MS, testChannelTargets, wakeSenders } from '../deliveries/public.js';
import { type Notifier, targetsOf } from '../sending/public.js';
import { NotificationChannel } from './channel.entity.js';
import { type ChannelRules, type ConfigInputs, configFrom, ListChannels, OneChannel } from './channel.rules.js';
import { type ChannelRow, findChannels, listChannels } from './notice.queries.js';
import { NOTICE_SOURCE, testNotification } from './notice-source.js';
import { notifyAgain } from './notices.js';

const NOT_FOUND = 'NOTIFICATION_CHANNEL_NOT_FOUND';
const CHANNEL = { find: findChannels, notFound: NOT_FOUND } as const;
const TABLE = 'notification_channel';
/** Configurations of channels. */
export const SEALED_NOTIFICATION_CHANNELS = sealedChannels(TABLE);
const MAX_CHANNELS = 50;
const TAKEN = { notification_channel_name_unique: 'NOTIFICATION_CHANNEL_NAME_TAKEN' } as const;

/** One page of channels and the total count. */
export type ListedChannels = Page<ChannelRow> & { readonly totalCount: () => Promise<number> };

/** The result of a test at one target, with its channel. */
interface TestOfChannel extends ChannelTestResult {
  readonly channel: ChannelRow;
}

/**
 * Notification channels of projects. Configs are sealed.
 *
 * Every method that takes `raw`, its unvalidated input, throws VALIDATION_FAILED, PROJECT_NOT_FOUND, PERMISSION_DENIED and
 * AUDIT_UNAVAILABLE.
 */
export class ChannelService {
  constructor(
    private readonly projects: ProjectReader,
    private readonly rules: ChannelRules,
    private readonly notifier: Pick<Notifier, 'deliver'>,
  ) {}

  /** Adds a channel to a project. @throws NOTIFICATION_CHANNEL_NAME_TAKEN, NOTIFICATION_CHANNELS_FULL */
  create(ctx: Context, raw: unknown): Promise<ChannelRow> {
    const { projectId: wanted, config, isEnabled, ...given } = parse(this.rules.create, raw);
    return inTransaction(ctx, async (tx) => {
      const project = await this.projects.authorized(tx, wanted, 'webhooks:create');
      const { organizationId, projectId } = project;
      await lockProject(tx, project);
      if ((await listChannels(tx, { projectIds: [projectId] })).length >= MAX_CHANNELS)
        throw new AppError('NOTIFICATION_CHANNELS_FULL');
      const id = newId();
      const sealed = await sealedConfig(tx, project, { id, configVersion: 1 }, config, null);
      tx.em.create(NotificationChannel, { ...given, ...sealed, id, organizationId, projectId, isEnabled });
      await flush(tx, TAKEN);
      return changed(tx, 'notification-channel:create', { id, projectId });
    });
  }

  /**
   * Updates a channel. A webhook without a signing secret keeps the existing one.
   *
   * @throws NOTIFICATION_CHANNEL_NOT_FOUND, NOTIFICATION_CHANNEL_NAME_TAKEN; SEALED_VALUE_INVALID if a signing secret to be kept cannot be
   *   decrypted
   */
  update(ctx: Context, raw: unknown): Promise<ChannelRow> {
    const { config, isEnabled, name, kinds, ...named } = parse(this.rules.update, raw);
    return inTransaction(ctx, async (tx) => {
      const project = await this.projects.authorizedOwner(tx, named, CHANNEL, 'webhooks:edit');
      const { projectId } = project;
      const channel = await lockRow(tx, NotificationChannel, { id: named.id, projectId }, NOT_FOUND);
      const before = await load(tx, channel.id);
      const place = { id: channel.id, configVersion: channel.configVersion + 1 };
      tx.em.assign(channel, {
        name: name ?? channel.name,
        kinds: kinds ?? channel.kinds,
        isEnabled: isEnabled ?? channel.isEnabled,
        ...(config === undefined ? {} : await sealedConfig(tx, project, place, config, before)),
        updatedAt: sql('now()'),
      });
      await flush(tx, TAKEN);
      const owner = { organizationId: channel.organizationId, projectId, ownerId: projectId };
      await wakeSenders(tx, NOTICE_SOURCE, owner, config === undefined ? [] : [channel.id]);
      await notifyAgain(tx, owner);
      return changed(tx, 'notification-channel:update', { id: channel.id, projectId });
    });
  }

  /** Deletes a channel and cancels its pending messages. @returns the deleted channel @throws NOTIFICATION_CHANNEL_NOT_FOUND */
  delete(ctx: Context, raw: unknown): Promise<ChannelRow> {
    const named = parse(OneChannel, raw);
    return inTransaction(ctx, async (tx) => {
      const { projectId } = await this.projects.authorizedOwner(tx, named, CHANNEL, 'webhooks:delete');
      const channel = await lockRow(tx, NotificationChannel, { id: named.id, projectId }, NOT_FOUND);
      const before = await changed(tx, 'notification-channel:delete', channel);
      tx.em.remove(channel);
      await flush(tx);
      return before;
    });
  }

  /** Returns one channel. @throws NOTIFICATION_CHANNEL_NOT_FOUND */
  async get(ctx: Context, raw: unknown): Promise<ChannelRow> {
    const { row } = await this.projects.authorizedItem(ctx, parse(OneChannel, raw), CHANNEL, 'webhooks:read');
    await ctx.auditTrail.recordRead(ctx, auditOfRead(row));
    return row;
  }

  /** Lists channels of a project, by name by default. */
  async list(ctx: Context, raw: unknown): Promise<ListedChannels> {
    const { projectId, ...page } = parse(ListChannels, raw);
    const channels = await this.listInProject(ctx, await this.projects.authorized(ctx, projectId, 'webhooks:read'));
    const own = (rows: readonly ChannelRow[], asked: object) => pageOf(rows, asked, 1, ({ name }) => [name]);
    return counted(
      orderedPageOf(channels, page, { orderable: (channel) => channel, own }),
      async () => channels.length,
    );
  }

  /** Lists channels of a project nested in a response. All projects share one statement. */
  async listInProject(ctx: Context, project: ProjectAccess): Promise<readonly ChannelRow[]> {
    authorize(project, 'webhooks:read');
    const channels = (await batched(ctx, channelsByProject, project.projectId)) ?? [];
    const { projectId } = project;
    const facts = { count: channels.length };
    await ctx.auditTrail.recordRead(ctx, { action: 'notification-channel:list', projectId, facts });
    return channels;
  }

  /**
   * Makes one attempt at each target of a channel, which may be disabled. There are no retries and no message is stored. The audit record
   * is written before the first attempt.
   *
   * @throws NOTIFICATION_CHANNEL_NOT_FOUND
   */
  async test(ctx: Context, raw: unknown): Promise<readonly TestOfChannel[]> {
    const named = parse(OneChannel, raw);
    const { channel, notification } = await inTransaction(ctx, async (tx) => {
      const { row, project } = await this.projects.authorizedItem(tx, named, CHANNEL, 'webhooks:edit');
      await record(tx, 'notification-channel:test', row);
      return { channel: row, notification: testNotification({ ...row, ownerName: project.name }) };
    });
    const { channelType } = channel;
    const open = async () => targetsOf(channelType, await openForNewMessages(ctx, { ...channel, table: TABLE }));
    const trying = { notifier: this.notifier, notification, end: Date.now() + TEST_LIMIT_MS };
    const tested = await testChannelTargets(ctx, open, trying);
    return tested.map((result) => ({ channel, ...result }));
  }
}

const channelsByProject = batchOfOwned(
  (ctx, projectIds) => listChannels(ctx, { projectIds }),
  ({ projectId }) => projectId,
);

/** The config to store. @throws VALIDATION_FAILED as `recipientViolations`, all at once */
async function sealedConfig(
  tx: Transaction,
  project: ProjectAccess,
  row: { readonly id: string; readonly configVersion: number },
  given: ConfigInputs,
  before: ChannelRow | null,
) {
  const [channelType, config] = configFrom(given);
  const place = (list: string, index: number) => ({ path: `config.email.${list}[${index}]` });
  const violations = await recipientViolations(tx, project, [{ config, place }]);
  refuseViolations(violations);
  const keeps = 'url' in config && config.signingSecret === undefined && before?.channelType === 'webhook';
  const kept = keeps ? await openConfig(tx, { ...before, channelType: 'webhook', table: TABLE }) : null;
  const sealer = await configSealer(tx, project, 1);
  const configSealed = sealConfig(sealer, { ...row, table: TABLE }, channelType, withKeptSecret(config, kept));
  return { channelType, configSealed, configVersion: row.configVersion };
}

const load = (tx: Transaction, id: string): Promise<ChannelRow> => loadRow(tx, findChannels, { ids: [id] }, NOT_FOUND);

interface ChannelIds {
  readonly id: string;
  readonly projectId: string;
}

async function changed(tx: Transaction, action: string, channel: ChannelIds): Promise<ChannelRow> {
  await record(tx, action, channel);
  return load(tx, channel.id);
}

const record = (tx: Transaction, action: string, { id, projectId }: ChannelIds): Promise<void> =>
  tx.auditTrail.recordChange(tx, { action, projectId, facts: { channelId: id } });

/** The audit record of reading a channel. */
export const auditOfRead = ({ id, projectId }: ChannelIds) => ({
  action: 'notification-channel:get',
  projectId,
  facts: { channelId: id },
});
