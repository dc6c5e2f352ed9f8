import { z } from 'zod';
import type { Context, Transaction } from '../../kernel/context.js';
import { type Together, together } from '../../kernel/database/batched.js';
import type { ErrorDetail } from '../../kernel/errors.js';
import { validationFailed } from '../../kernel/validation.js';
import type { ChannelConfigs, ChannelType } from '../notifications/public.js';
import type { GivenChannel } from './channel.rules.js';
import { listMembersNamed, listPeopleNamed } from './channel-people.sql.js';
import { openConfig } from './channel-sealing.js';

type Sealed = Parameters<typeof openConfig>[1];

/**
 * The config of a channel as it is sent to: recipients of a channel that sends mails are its addresses, and those of its users and
 * groups that are members of the project right now, each once. A username that is no address has none.
 *
 * @throws SEALED_VALUE_INVALID as `openConfig`
 */
export async function openForSending<T extends ChannelType>(
  ctx: Context,
  channel: Sealed & { readonly channelType: T },
): Promise<ChannelConfigs[T]> {
  const config: ChannelConfigs[ChannelType] = await openConfig(ctx, channel);
  if (!('recipients' in config)) return config as ChannelConfigs[T];
  const { recipients, userIds = [], groupIds = [] } = config;
  if (userIds.length + groupIds.length === 0) return config as ChannelConfigs[T];
  const people = await together(ctx, addressesOf, { projectId: channel.projectId, userIds, groupIds });
  const known = new Set(recipients.map((address) => address.toLowerCase()));
  const resolved: ChannelConfigs[ChannelType] = {
    ...config,
    recipients: [...recipients, ...people.filter((address) => !known.has(address))],
  };
  return resolved as ChannelConfigs[T];
}

interface Named {
  readonly projectId: string;
  readonly userIds: readonly string[];
  readonly groupIds: readonly string[];
}

const addressesOf: Together<Named, readonly string[]> = async (ctx, named) => {
  const wanted = JSON.stringify(named.map((one, place) => ({ place, ...one })));
  const found = Map.groupBy(await listPeopleNamed(ctx, { wanted }), ({ place }) => place);
  return named.map((_, place) =>
    (found.get(place) ?? []).map(({ username }) => username).filter((username) => z.regexes.email.test(username)),
  );
};

/** @throws VALIDATION_FAILED with the place of every user and group of channels that is no member of the project */
export async function refuseStrangers(
  tx: Transaction,
  projectId: string,
  given: readonly GivenChannel[],
): Promise<void> {
  const places = given.flatMap(({ config }, at) =>
    (['userIds', 'groupIds'] as const).flatMap((list) => {
      const ids = config !== null && list in config ? ((config as ChannelConfigs['email'])[list] ?? []) : [];
      return ids.map((id, index) => ({
        list,
        id: id.toLowerCase(),
        path: `channels[${at}].config`,
        entry: `${list}[${index}]`,
      }));
    }),
  );
  if (places.length === 0) return;
  const idsIn = (wanted: string) => places.filter(({ list }) => list === wanted).map(({ id }) => id);
  const members = await listMembersNamed(tx, { projectId, userIds: idsIn('userIds'), groupIds: idsIn('groupIds') });
  const known = new Set(members.map(({ id }) => id));
  const faults = places
    .filter(({ id }) => !known.has(id))
    .map(
      ({ path, entry }): ErrorDetail => ({
        path,
        code: 'INVALID',
        message: `${entry} must be a member of the project`,
      }),
    );
  if (faults.length > 0) throw validationFailed(faults);
}
