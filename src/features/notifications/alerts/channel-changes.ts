import { type EntityName, type Opt, raw as sql } from '@mikro-orm/core';
import type { Transaction } from '../../../kernel/context.js';
import { flush } from '../../../kernel/database/in-transaction.js';
import type { ErrorDetail } from '../../../kernel/errors.js';
import { invalid } from '../../../kernel/errors.js';
import { newId } from '../../../kernel/ids.js';
import { refuseViolations } from '../../../kernel/validation.js';
import { CertificateAlertChannel, type channelColumns } from './alert.entity.js';
import { type ChannelInput, withKeptSecret } from './channel.rules.js';
import { recipientViolations } from './channel-people.js';
import { type ChannelOwner, configSealer, openConfig, sealConfig } from './channel-sealing.js';

/** A change of channels. */
export interface ChannelChange {
  /** Those that existed and have another config. */
  readonly configuredIds: readonly string[];
}

/** What channels of all kinds of alerts have. */
interface AlertChannel extends Pick<CertificateAlertChannel, 'id' | 'organizationId' | keyof typeof channelColumns> {
  projectId?: string | null;
  name?: string;
  updatedAt?: Opt<Date>;
}

/** Where the channels of one kind of alerts are stored. */
export interface ChannelStore {
  readonly table: string;
  readonly entity: EntityName<AlertChannel>;
}

/** Channels of certificate alerts. */
export const CERTIFICATE_CHANNELS: ChannelStore = {
  table: 'certificate_alert_channel',
  entity: CertificateAlertChannel,
};

/** A requested channel and the existing one that it updates; null if it is new. */
interface Pair {
  readonly given: ChannelInput;
  readonly before: AlertChannel | null;
}

/** Whose channels are replaced. */
interface ChannelsOf {
  readonly store: ChannelStore;
  readonly owner: ChannelOwner;
  readonly alertId: string;
}

/**
 * Replaces the channels of an alert, which must be locked.
 *
 * @param given the requested channels; those without a config keep the existing one
 * @returns what changed; null if nothing did
 * @throws VALIDATION_FAILED with all errors at once: IDs of channels that the alert does not have, a changed type without a config,
 *   users and groups that are not members of the owner, email domains that the organization does not allow; SEALED_VALUE_INVALID
 *   if a signing secret to be kept cannot be decrypted
 */
export async function replaceChannels(
  tx: Transaction,
  { store, owner, alertId }: ChannelsOf,
  given: readonly ChannelInput[],
): Promise<ChannelChange | null> {
  const { table, entity } = store;
  const stored = await tx.em.find(entity, { alertId }, { orderBy: { position: 'asc' } });
  const { pairs, violations } = pairsOf(given, stored);
  const placed = given.map(({ config }, at) => ({
    config,
    place: (list: string, index: number) => ({ path: `channels[${at}].config`, entry: `${list}[${index}]` }),
  }));
  violations.push(...(await recipientViolations(tx, owner, placed)));
  refuseViolations(violations);
  const before = stored.map(shapeOf);
  const sealer = await configSealer(tx, owner, given.filter(({ config }) => config !== null).length);
  const channels: AlertChannel[] = [];
  for (const [at, { given: wanted, before: existing }] of pairs.entries()) {
    const { channelType, config } = wanted;
    const { organizationId, projectId } = owner;
    const place = { id: newId(), organizationId, projectId, alertId, position: at + 1 };
    const content = { channelType, configVersion: 0, configSealed: NO_CONFIG, isEnabled: true };
    const channel = existing ?? tx.em.create(entity, { ...place, ...content });
    channels.push(channel);
    const shape = shapeOf(channel);
    tx.em.assign(channel, {
      position: at + 1,
      isEnabled: wanted.isEnabled ?? channel.isEnabled,
      name: wanted.name ?? channel.name,
    });
    if (config !== null) {
      const isKept = 'url' in config && config.signingSecret === undefined && existing?.channelType === 'webhook';
      const opened = isKept ? await openConfig(tx, { ...existing, projectId, table }) : null;
      const configVersion = channel.configVersion + 1;
      const sealedFor = { table, id: channel.id, configVersion };
      const configSealed = sealConfig(sealer, sealedFor, channelType, withKeptSecret(config, opened));
      tx.em.assign(channel, { channelType, configVersion, configSealed, testedAt: null, testErrorCode: null });
    }
    // Another position alone is no change of the channel.
    if (existing !== null && isOther(shape, shapeOf(channel))) tx.em.assign(channel, { updatedAt: sql('now()') });
  }
  for (const channel of stored) if (!channels.includes(channel)) tx.em.remove(channel);
  await flush(tx);
  if (!isOther(before, channels.map(shapeOf))) return null;
  return {
    configuredIds: pairs.flatMap(({ given: { config }, before }) =>
      config !== null && before !== null ? [before.id] : [],
    ),
  };
}

const NO_CONFIG = Buffer.alloc(0);

const shapeOf = ({ id, channelType, configVersion, isEnabled, name }: AlertChannel) => [
  id,
  channelType,
  configVersion,
  isEnabled,
  name,
];
const isOther = (one: unknown, other: unknown): boolean => JSON.stringify(one) !== JSON.stringify(other);

function pairsOf(
  given: readonly ChannelInput[],
  stored: readonly AlertChannel[],
): { readonly pairs: readonly Pair[]; readonly violations: ErrorDetail[] } {
  const violations: ErrorDetail[] = [];
  const pairs = given.map((channel, at) => {
    const before = stored.find(({ id }) => id === channel.id) ?? null;
    if (channel.id !== null && before === null)
      violations.push(invalid(`channels[${at}].id`, 'must be the ID of a channel of this alert'));
    else if (channel.config === null && before?.channelType !== channel.channelType)
      violations.push({
        path: `channels[${at}].config`,
        code: 'MISSING',
        message: 'required because channelType changes',
      });
    return { given: channel, before };
  });
  return { pairs, violations };
}
