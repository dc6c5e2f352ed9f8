import { z } from 'zod';
import { orderRules } from '../../kernel/list-order.js';
import { pageRules } from '../../kernel/paging.js';
import { idOf } from '../../kernel/text-rules.js';
import { organizationRole } from './organization.rules.js';

const organizationId = idOf('The organization; absent for that of your token.').nullish();
const who = {
  organizationId,
  userId: idOf('user').nullish(),
  identityId: idOf('machine identity').nullish(),
};
const roleSlug = organizationRole.meta({ description: 'Slug of the role that it shall have there.' });
const endsAt = z
  .date()
  .refine((time) => time.getTime() > Date.now(), { error: 'must be in the future', params: { code: 'NOT_IN_FUTURE' } })
  .nullish()
  .meta({
    description:
      'When the membership ends, in the future: until then it holds, and no longer. Null for no end. Absent keeps the end of a membership that holds now.',
  });

const isOne = ({ userId, identityId }: { userId?: unknown; identityId?: unknown }): boolean =>
  (userId == null) !== (identityId == null);
const ONE = { path: ['userId'], error: 'must be given, or else identityId, not both' };

/** Input of `setOrganizationMember`. */
export const SetMember = z
  .strictObject({ ...who, roleSlug, endsAt })
  .refine(isOne, ONE)
  .meta({ description: 'Who shall be what in an organization. Give userId or identityId.' });

/** Input of `updateOrganizationMember`. */
export const UpdateMember = z
  .strictObject({ id: idOf('membership'), roleSlug: roleSlug.optional(), endsAt })
  .meta({ description: 'Changes of a membership. What is absent stays.' });

/** Input of `removeOrganizationMember`. */
export const RemoveMember = z
  .strictObject(who)
  .refine(isOne, ONE)
  .meta({ description: 'Whose membership to end. Give userId or identityId.' });

/** Arguments of `organizationMembers`. */
export const ListMembers = z.strictObject({ organizationId, ...pageRules, ...orderRules });
