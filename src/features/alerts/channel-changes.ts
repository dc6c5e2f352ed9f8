import type { Transaction } from '../../kernel/context.js';
import type { ErrorDetail } from '../../kernel/errors.js';
import { newId } from '../../kernel/ids.js';
import { validationFailed } from '../../kernel/validation.js';
import type { ProjectAccess } from '../projects/public.js';
import { type ChannelRow, listChannels } from './alert.queries.js';
import { completed, type GivenChannel } from './channel.rules.js';
import { recipientFaults } from './channel-people.js';
import { configSealer, openConfig, sealConfig } from './channel-sealing.js';
import { deleteOtherChannels, writeChannels } from './channel-writes.sql.js';

/** A requested channel and the existing one that it updates; null if it is new. */
interface Pair {
  readonly given: GivenChannel;
  readonly before: ChannelRow | null;
}

/**
 * Replaces the channels of an alert, which must be locked.
 *
 * @param given the requested channels; those without a config keep the existing one
 * @returns whether anything changed
 * @throws VALIDATION_FAILED with all errors at once: IDs of channels that the alert does not have, a changed type without a config,
 *   users and groups that are not members of the project, email domains that the organization does not allow; SEALED_VALUE_INVALID
 *   if a signing secret to be kept cannot be decrypted
 */
export async function replaceChannels(
  tx: Transaction,
  project: ProjectAccess,
  alertId: string,
  given: readonly GivenChannel[],
): Promise<boolean> {
  const stored = await listChannels(tx, { alertIds: [alertId] });
  const { pairs, faults } = pairsOf(given, stored);
  const placed = given.map(({ config }, at) => ({
    config,
    place: (list: string, index: number) => ({ path: `channels[${at}].config`, entry: `${list}[${index}]` }),
  }));
  faults.push(...(await recipientFaults(tx, project.projectId, placed)));
  if (faults.length > 0) throw validationFailed(faults);
  const sealer = await configSealer(tx, project, given.filter(({ config }) => config !== null).length);
  const rows: Row[] = [];
  for (const { given: channel, before } of pairs) {
    const { id, configVersion: version } = before ?? { id: newId(), configVersion: 0 };
    const { channelType: type, enabled, config } = channel;
    const common = { id, type, enabled: enabled ?? before?.enabled ?? true };
    if (config === null) {
      rows.push({ ...common, version, config: (before as ChannelRow).configSealed });
      continue;
    }
    const isKept = 'url' in config && config.signingSecret === undefined && before?.channelType === 'webhook';
    const opened = isKept ? await openConfig(tx, before) : null;
    const place = { id, configVersion: version + 1 };
    rows.push({ ...common, version: version + 1, config: sealConfig(sealer, place, type, completed(config, opened)) });
  }
  await write(tx, project, alertId, rows);
  return JSON.stringify(rows.map(shapeOf)) !== JSON.stringify(stored.map(shapeOfStored));
}

function pairsOf(
  given: readonly GivenChannel[],
  stored: readonly ChannelRow[],
): { readonly pairs: readonly Pair[]; readonly faults: ErrorDetail[] } {
  const faults: ErrorDetail[] = [];
  const pairs = given.map((channel, at) => {
    const before = stored.find(({ id }) => id === channel.id) ?? null;
    if (channel.id !== null && before === null)
      faults.push({
        path: `channels[${at}].id`,
        code: 'INVALID',
        message: 'must be the ID of a channel of this alert',
      });
    else if (channel.config === null && before?.channelType !== channel.channelType)
      faults.push({
        path: `channels[${at}].config`,
        code: 'MISSING',
        message: 'required because channelType changes',
      });
    return { given: channel, before };
  });
  return { pairs, faults };
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
const shapeOfStored = ({ id, channelType, configVersion, enabled }: ChannelRow) => [
  id,
  channelType,
  configVersion,
  enabled,
];

async function write(
  tx: Transaction,
  { organizationId, projectId }: ProjectAccess,
  alertId: string,
  rows: readonly Row[],
): Promise<void> {
  const ids = rows.map(({ id }) => id);
  await deleteOtherChannels(tx, { alertId, keptIds: ids });
  await writeChannels(tx, {
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
