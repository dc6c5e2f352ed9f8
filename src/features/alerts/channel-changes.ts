import type { Transaction } from '../../kernel/context.js';
import type { ErrorDetail } from '../../kernel/errors.js';
import { newId } from '../../kernel/ids.js';
import { validationFailed } from '../../kernel/validation.js';
import { type ChannelRow, listChannels } from './alert.queries.js';
import { completed, type GivenChannel } from './channel.rules.js';
import { deleteOtherChannels, writeChannels } from './channel.sql.js';
import { recipientViolations } from './channel-people.js';
import { type ChannelOwner, configSealer, openConfig, sealConfig } from './channel-sealing.js';

/** A change of channels. */
export interface ChannelChange {
  /** Those that existed and have another config. */
  readonly configuredIds: readonly string[];
}

/** A channel as it is stored. */
type StoredChannel = Pick<ChannelRow, 'id' | 'channelType' | 'configSealed' | 'configVersion' | 'enabled'>;

/** Where the channels of one kind of alerts are stored. */
export interface ChannelStore {
  readonly table: string;
  readonly list: (
    tx: Transaction,
    params: { readonly alertIds: readonly string[] },
  ) => Promise<readonly StoredChannel[]>;
  /** Made by `channelDeletion`. */
  readonly deleteOthers: typeof deleteOtherChannels;
  /** Made by `channelWriting`. */
  readonly write: typeof writeChannels;
}

/** Channels of certificate alerts. */
export const CERTIFICATE_CHANNELS: ChannelStore = {
  table: 'certificate_alert_channel',
  list: listChannels,
  deleteOthers: deleteOtherChannels,
  write: writeChannels,
};

/** A requested channel and the existing one that it updates; null if it is new. */
interface Pair {
  readonly given: GivenChannel;
  readonly before: StoredChannel | null;
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
  given: readonly GivenChannel[],
): Promise<ChannelChange | null> {
  const { table } = store;
  const stored = await store.list(tx, { alertIds: [alertId] });
  const { pairs, violations } = pairsOf(given, stored);
  const placed = given.map(({ config }, at) => ({
    config,
    place: (list: string, index: number) => ({ path: `channels[${at}].config`, entry: `${list}[${index}]` }),
  }));
  violations.push(...(await recipientViolations(tx, owner, placed)));
  if (violations.length > 0) throw validationFailed(violations);
  const sealer = await configSealer(tx, owner, given.filter(({ config }) => config !== null).length);
  const rows: Row[] = [];
  for (const { given: channel, before } of pairs) {
    const { id, configVersion: version } = before ?? { id: newId(), configVersion: 0 };
    const { channelType: type, enabled, config } = channel;
    const common = { id, type, enabled: enabled ?? before?.enabled ?? true };
    if (config === null) {
      rows.push({ ...common, version, config: (before as StoredChannel).configSealed });
      continue;
    }
    const isKept = 'url' in config && config.signingSecret === undefined && before?.channelType === 'webhook';
    const { projectId } = owner;
    const opened = isKept ? await openConfig(tx, { ...before, projectId, table }) : null;
    const place = { table, id, configVersion: version + 1 };
    rows.push({ ...common, version: version + 1, config: sealConfig(sealer, place, type, completed(config, opened)) });
  }
  await write(tx, { store, owner, alertId }, rows);
  if (JSON.stringify(rows.map(shapeOf)) === JSON.stringify(stored.map(shapeOfStored))) return null;
  return {
    configuredIds: pairs.flatMap(({ given: { config }, before }) =>
      config !== null && before !== null ? [before.id] : [],
    ),
  };
}

function pairsOf(
  given: readonly GivenChannel[],
  stored: readonly StoredChannel[],
): { readonly pairs: readonly Pair[]; readonly violations: ErrorDetail[] } {
  const violations: ErrorDetail[] = [];
  const pairs = given.map((channel, at) => {
    const before = stored.find(({ id }) => id === channel.id) ?? null;
    if (channel.id !== null && before === null)
      violations.push({
        path: `channels[${at}].id`,
        code: 'INVALID',
        message: 'must be the ID of a channel of this alert',
      });
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

/** A channel as it is stored. */
interface Row {
  readonly id: string;
  readonly type: string;
  readonly version: number;
  readonly config: Uint8Array;
  readonly enabled: boolean;
}

const shapeOf = ({ id, type, version, enabled }: Row) => [id, type, version, enabled];
const shapeOfStored = ({ id, channelType, configVersion, enabled }: StoredChannel) => [
  id,
  channelType,
  configVersion,
  enabled,
];

async function write(
  tx: Transaction,
  { store, owner: { organizationId, projectId }, alertId }: ChannelsOf,
  rows: readonly Row[],
): Promise<void> {
  const ids = rows.map(({ id }) => id);
  await store.deleteOthers(tx, { alertId, keptIds: ids });
  await store.write(tx, {
    organizationId,
    projectId,
    alertId,
    ids,
    positions: rows.map((_, at) => at + 1),
    types: rows.map(({ type }) => type),
    configs: rows.map(({ config }) => Buffer.from(config)),
    versions: rows.map(({ version }) => version),
    enabled: rows.map(({ enabled }) => enabled),
  });
}
