import type { Context } from '../../kernel/context.js';
import { queryOf } from '../../kernel/database/database.js';
import { type ChannelRow, type ChannelType, openConfig } from '../alerts/public.js';

/** Whom a channel notifies: one target for each address of a mail channel, else one in all. */
export interface Target {
  readonly channelId: string;
  readonly channelType: ChannelType;
  /** A digest of the address within the project; empty without one. The ledger holds no address. */
  readonly recipient: Buffer;
}

/** Channels whose messages hold many certificates: people read them. */
export const isBatched = (type: ChannelType): boolean => type === 'email' || type === 'slack';

const NOBODY = Buffer.alloc(0);

/** The targets of channels of one project that are enabled. */
export async function targetsOf(ctx: Context, channels: readonly ChannelRow[]): Promise<Target[]> {
  const targets = await Promise.all(
    channels
      .filter(({ enabled }) => enabled)
      .map(async (channel) => {
        const common = { channelId: channel.id, channelType: channel.channelType };
        if (channel.channelType !== 'email') return [{ ...common, recipient: NOBODY }];
        const { recipients } = await openConfig(ctx, { ...channel, channelType: 'email' as const });
        const digests = await digestsOf(ctx, channel.projectId, recipients);
        return digests.map((recipient) => ({ ...common, recipient }));
      }),
  );
  return targets.flat();
}

/** Digests of addresses, whatever the case of their letters. */
export async function digestsOf(
  ctx: Context,
  projectId: string,
  addresses: readonly string[],
): Promise<readonly Buffer[]> {
  const sealer = await ctx.keyring.sealer(queryOf(ctx), { organizationId: ctx.organizationId, projectId });
  return addresses.map((address) => sealer.digest(`recipient ${address.toLowerCase()}`));
}
