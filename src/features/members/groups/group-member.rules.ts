import * as z from 'zod';
import { onConflict } from '../../../kernel/graphql/creation.js';
import { enumOfRule } from '../../../kernel/graphql/inputs.js';
import { pageRules } from '../../../kernel/paging.js';
import { idOf } from '../../../kernel/value-rules.js';
import { MemberKindEnum } from '../../identity/organizations/public.js';

/** Who can be in a group. */
const memberKind = z.enum(['user', 'identity']);
enumOfRule(memberKind, MemberKindEnum);

/** How many members one call can add or remove. */
const MAX_MEMBERS = 100;

const groupId = idOf('group');
const ids = (description: string) => z.array(idOf(description)).default([]);

const isOne = ({ userId, identityId }: { userId?: unknown; identityId?: unknown }): boolean =>
  (userId == null) !== (identityId == null);

/** Input of `addGroupMember` and `removeGroupMember`. */
export const OneMember = z
  .strictObject({
    groupId,
    userId: idOf('ID of the user. Set this or `identityId`.').nullish(),
    identityId: idOf('ID of the machine identity. Set this or `userId`.').nullish(),
  })
  .refine(isOne, { path: ['userId'], error: 'required if `identityId` is omitted, and not allowed otherwise' })
  .meta({ description: 'The group and the member. Set `userId` or `identityId`.' });

const username = z.string().trim().toLowerCase().min(1).max(255);

interface Lists {
  readonly userIds: readonly string[];
  readonly usernames: readonly string[];
  readonly identityIds: readonly string[];
}

const countOf = ({ userIds, usernames, identityIds }: Lists): number =>
  userIds.length + usernames.length + identityIds.length;
const isEachOnce = (words: readonly string[]): boolean =>
  new Set(words.map((word) => word.toLowerCase())).size === words.length;
const namesEachOnce = ({ userIds, usernames, identityIds }: Lists): boolean =>
  [userIds, usernames, identityIds].every(isEachOnce);

/** Input of `removeGroupMembers`. */
export const ManyMembers = z
  .strictObject({
    groupId,
    userIds: ids('A user.').meta({ description: 'IDs of users.' }),
    usernames: z.array(username).default([]).meta({ description: 'Usernames of more users.' }),
    identityIds: ids('A machine identity.').meta({ description: 'IDs of machine identities.' }),
  })
  .refine((given) => countOf(given) > 0 && countOf(given) <= MAX_MEMBERS, {
    path: ['userIds'],
    error: `must have 1 to ${MAX_MEMBERS} items, counting usernames and identityIds`,
  })
  .refine(namesEachOnce, { path: ['userIds'], error: 'must list each member only once' })
  .meta({ description: 'The group, and 1 to 100 users and machine identities, each listed once.' });

/** Input of `addGroupMembers`. */
export const AddMembers = ManyMembers.safeExtend({ onConflict }).meta(z.globalRegistry.get(ManyMembers) ?? {});

/** Arguments of `Group.members`. */
export const MemberPage = z.strictObject(pageRules);

/** Arguments of `groupMembers`. */
export const ListMembers = MemberPage.extend({
  groupId,
  memberKind: memberKind.nullish().meta({ description: 'Return only users, or only machine identities.' }),
});
