import * as z from 'zod';
import type { Context, Transaction } from '../../../kernel/context.js';
import { runTogether, type SharedRun } from '../../../kernel/database/batched.js';
import type { ErrorDetail } from '../../../kernel/errors.js';
import { refusedAddresses } from '../../identity/organizations/email-domains/public.js';
import type { ChannelConfigs, ChannelType } from '../sending/public.js';
import { findMembersAmong, listMemberUsernames } from './channel.sql.js';
import { type ChannelOwner, openConfig } from './channel-sealing.js';

type Sealed = Parameters<typeof openConfig>[1];

/**
 * The config of a channel with its recipients resolved. Recipients of an email channel are its addresses and those of its users and
 * groups that are currently members of the owner, without duplicates. Usernames that are not email addresses are skipped.
 *
 * @throws SEALED_VALUE_INVALID as in `openConfig`
 */
export const openForSending = <T extends ChannelType>(
  ctx: Context,
  channel: Sealed & { readonly channelType: T },
): Promise<ChannelConfigs[T]> => resolved(ctx, channel, async (people) => people);

/** Like `openForSending`, without addresses that the organization does not allow, so that no undeliverable message is stored. */
export const openForNewMessages = <T extends ChannelType>(
  ctx: Context,
  channel: Sealed & { readonly channelType: T },
): Promise<ChannelConfigs[T]> => resolved(ctx, channel, (people) => allowedAddresses(ctx, people));

/** The addresses that the organization allows. */
export async function allowedAddresses(ctx: Context, addresses: readonly string[]): Promise<readonly string[]> {
  const refused = await refusedAddresses(ctx, addresses);
  return addresses.filter((address) => !refused.has(address));
}

async function resolved<T extends ChannelType>(
  ctx: Context,
  channel: Sealed & { readonly channelType: T },
  among: (people: readonly string[]) => Promise<readonly string[]>,
): Promise<ChannelConfigs[T]> {
  const config: ChannelConfigs[ChannelType] = await openConfig(ctx, channel);
  if (!('recipients' in config)) return config as ChannelConfigs[T];
  const { recipients, userIds = [], groupIds = [] } = config;
  if (userIds.length + groupIds.length === 0) return config as ChannelConfigs[T];
  const people = await among(await runTogether(ctx, addressesOf, { projectId: channel.projectId, userIds, groupIds }));
  const known = new Set(recipients.map((address) => address.toLowerCase()));
  const found: ChannelConfigs[ChannelType] = {
    ...config,
    recipients: [...recipients, ...people.filter((address) => !known.has(address))],
  };
  return found as ChannelConfigs[T];
}

interface NamedPeople {
  readonly projectId: string | null;
  readonly userIds: readonly string[];
  readonly groupIds: readonly string[];
}

const addressesOf: SharedRun<NamedPeople, readonly string[]> = async (ctx, named) => {
  const { organizationId } = ctx;
  const wanted = JSON.stringify(named.map((one, place) => ({ place, organizationId, ...one })));
  const found = Map.groupBy(await listMemberUsernames(ctx, { wanted }), ({ place }) => place);
  return named.map((_, place) =>
    (found.get(place) ?? []).map(({ username }) => username).filter((username) => z.regexes.email.test(username)),
  );
};

type PeopleList = 'recipients' | 'userIds' | 'groupIds';

/** A requested config and its path in the input. `entry` is added to the message where the path ends at the config. */
interface PlacedConfig {
  readonly config: object | null;
  readonly place: (list: PeopleList, index: number) => Pick<ErrorDetail, 'path'> & { readonly entry?: string };
}

/** Validates configs: users and groups must be members of the owner, and the organization must allow the email domains. */
export async function recipientViolations(
  tx: Transaction,
  owner: ChannelOwner,
  placed: readonly PlacedConfig[],
): Promise<readonly ErrorDetail[]> {
  const refused = await Promise.all(placed.map((one) => refusedIn(tx, one)));
  return [...refused.flat(), ...(await nonMembersIn(tx, owner, placed))];
}

async function refusedIn(tx: Transaction, { config, place }: PlacedConfig): Promise<ErrorDetail[]> {
  const { recipients = [] } = (config ?? {}) as Partial<ChannelConfigs['email']>;
  const refused = await refusedAddresses(tx, recipients);
  return recipients.flatMap((address, index) =>
    refused.has(address)
      ? [
          violationAt(
            place('recipients', index),
            'DOMAIN_NOT_ALLOWED',
            'must have an email domain that the organization allows',
          ),
        ]
      : [],
  );
}

async function nonMembersIn(
  tx: Transaction,
  { organizationId, projectId }: ChannelOwner,
  placed: readonly PlacedConfig[],
): Promise<readonly ErrorDetail[]> {
  const named = placed.flatMap(({ config, place }) =>
    (['userIds', 'groupIds'] as const).flatMap((list) => {
      const ids = config !== null && list in config ? ((config as ChannelConfigs['email'])[list] ?? []) : [];
      return ids.map((id, index) => ({ list, id: id.toLowerCase(), at: place(list, index) }));
    }),
  );
  if (named.length === 0) return [];
  const idsIn = (wanted: string) => named.filter(({ list }) => list === wanted).map(({ id }) => id);
  const ids = { userIds: idsIn('userIds'), groupIds: idsIn('groupIds') };
  const members = await findMembersAmong(tx, { organizationId, projectId, ...ids });
  const known = new Set(members.map(({ id }) => id));
  return named
    .filter(({ id }) => !known.has(id))
    .map(({ at }) =>
      violationAt(at, 'INVALID', `must be a member of the ${projectId === null ? 'organization' : 'project'}`),
    );
}

const violationAt = (
  { path, entry }: ReturnType<PlacedConfig['place']>,
  code: ErrorDetail['code'],
  message: string,
): ErrorDetail => ({ path, code, message: entry === undefined ? message : `${entry} ${message}` });
