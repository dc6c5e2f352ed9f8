import type { Context } from '../../../kernel/context.js';
import { keyIdOf } from '../../../kernel/crypto/seal.js';
import type { SealedTable } from '../../../kernel/crypto/sealed-table.js';
import { SealedText } from '../../../kernel/crypto/sealed-text.js';
import type { Sealer } from '../../../kernel/crypto/sealer.js';
import { runTogether, type SharedRun } from '../../../kernel/database/batched.js';
import { queryOf } from '../../../kernel/database/database.js';
import { AppError, toAppError } from '../../../kernel/errors.js';
import type { ChannelConfigs, ChannelType } from '../sending/public.js';
import type { ChannelRow } from './alert.queries.js';

/** The row and version that a config is sealed for: an older config of the same channel cannot be put back. */
interface ConfigPlace {
  /** Table of the channel; default: channels of alerts. */
  readonly table?: string;
  readonly id: string;
  readonly configVersion: number;
}

/** Whose channels they are. */
export interface ChannelOwner {
  readonly organizationId: string;
  /** Null: of the organization itself. */
  readonly projectId: string | null;
}

type AnyConfig = ChannelConfigs[ChannelType];
type SealedConfig = ConfigPlace & Pick<ChannelRow, 'channelType' | 'configSealed'> & Pick<ChannelOwner, 'projectId'>;

/** A table of channels, or of other targets that are sealed like them. */
export const sealedChannels = (table: string): SealedTable => ({
  table,
  rowId: 'id',
  columns: { config: 'config_version' },
});

/** Configurations of channels of certificate alerts. */
export const SEALED_ALERT_CHANNELS = sealedChannels('certificate_alert_channel');

const placeOf = ({ table = 'certificate_alert_channel', id, configVersion }: ConfigPlace) => ({
  table,
  column: 'config',
  rowId: id,
  rowVersion: configVersion,
});

/** Seals this many configs of a project or an organization. Each attempt of a transaction needs a new sealer. */
export async function configSealer(
  ctx: Context,
  { organizationId, projectId }: ChannelOwner,
  configs: number,
): Promise<Sealer> {
  const sealer = await ctx.keyring.sealer(queryOf(ctx), { organizationId, projectId });
  await sealer.reserve(configs);
  return sealer;
}

/** Seals a config together with the type of its channel, so that it cannot be read as another type. */
export const sealConfig = (sealer: Sealer, place: ConfigPlace, channelType: ChannelType, config: AnyConfig): Buffer =>
  sealer.seal(placeOf(place), new SealedText(JSON.stringify({ [channelType]: config })));

/**
 * Decrypts the config of a channel. All channels of a request share at most one statement, and those of organizations another one.
 *
 * @throws SEALED_VALUE_INVALID if it was not sealed for this channel, version and type
 */
export const openConfig = <T extends ChannelType>(
  ctx: Context,
  channel: SealedConfig & { readonly channelType: T },
): Promise<ChannelConfigs[T]> => runTogether(ctx, openConfigs, channel) as Promise<ChannelConfigs[T]>;

const openConfigs: SharedRun<SealedConfig, AnyConfig> = async (ctx, channels) => {
  const byProject = Map.groupBy(channels, ({ projectId }) => projectId);
  const keyIds = new Map(
    [...byProject].map(([id, rows]) => [id, rows.map(({ configSealed }) => keyIdOf(configSealed))]),
  );
  const sealers = await ctx.keyring.sealers(queryOf(ctx), ctx.organizationId, keyIds);
  // An Error fails only the channel that it belongs to.
  return channels.map((channel) => opened(sealers.get(channel.projectId) as Sealer, channel) as AnyConfig);
};

function opened(sealer: Sealer, channel: SealedConfig): AnyConfig | Error {
  try {
    const stored = JSON.parse(sealer.open(placeOf(channel), channel.configSealed).reveal()) as Partial<ChannelConfigs>;
    return stored[channel.channelType] ?? new AppError('SEALED_VALUE_INVALID');
  } catch (error) {
    return toAppError(error);
  }
}
