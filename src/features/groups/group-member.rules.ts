import { z } from 'zod';
import { enumOfRule } from '../../kernel/graphql/inputs.js';
import { pageRules } from '../../kernel/paging.js';
import { idOf, isStorable, NOT_STORABLE } from '../../kernel/text-rules.js';
import { MemberKindEnum } from '../organizations/public.js';

/** Who can be in a group. */
export const memberKind = z.enum(['user', 'identity']);
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
    userId: idOf('user').nullish(),
    identityId: idOf('machine identity').nullish(),
  })
  .refine(isOne, { path: ['userId'], error: 'must be given, or else identityId, not both' })
  .meta({ description: 'A group, and a user or a machine identity: give userId or identityId.' });

const username = z.string().trim().toLowerCase().min(1).max(255).refine(isStorable, NOT_STORABLE);

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

/** Input of `addGroupMembers` and `removeGroupMembers`. */
export const ManyMembers = z
  .strictObject({
    groupId,
    userIds: ids('A user.').meta({ description: 'The users, by their ids.' }),
    usernames: z.array(username).default([]).meta({ description: 'More users, by their names.' }),
    identityIds: ids('A machine identity.').meta({ description: 'The machine identities.' }),
  })
  .refine((given) => countOf(given) > 0 && countOf(given) <= MAX_MEMBERS, {
    path: ['userIds'],
    error: `must have 1 to ${MAX_MEMBERS} entries, together with usernames and identityIds`,
  })
  .refine(namesEachOnce, { path: ['userIds'], error: 'must name each member once' })
  .meta({ description: 'A group, and 1 to 100 users and machine identities, each once.' });

/** Arguments of `groupMembers`. */
export const ListMembers = z.strictObject({
  groupId,
  memberKind: memberKind.nullish().meta({ description: 'Only people, or only machine identities.' }),
  ...pageRules,
});
