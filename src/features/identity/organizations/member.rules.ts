import * as z from 'zod';
import { orderRules } from '../../../kernel/list-order.js';
import { pageRules } from '../../../kernel/paging.js';
import { idOf } from '../../../kernel/text-rules.js';
import { organizationRole } from './organization.rules.js';

const organizationId = idOf('ID of the organization. Default: the organization of your token.').nullish();
const who = {
  organizationId,
  userId: idOf('ID of the user. Set this or `identityId`.').nullish(),
  identityId: idOf('ID of the machine identity. Set this or `userId`.').nullish(),
};
const roleSlug = organizationRole.meta({ description: 'Slug of the role of the member, for example `member`.' });
const endsAt = z
  .date()
  .refine((time) => time.getTime() > Date.now(), { error: 'must be in the future', params: { code: 'NOT_IN_FUTURE' } })
  .nullish()
  .meta({
    description:
      'When the membership ends; must be in the future. Null: it does not end. If omitted, a current membership keeps its end.',
  });

const isOne = ({ userId, identityId }: { userId?: unknown; identityId?: unknown }): boolean =>
  (userId == null) !== (identityId == null);
const ONE = { path: ['userId'], error: 'required if `identityId` is omitted, and not allowed otherwise' };

/** Input of `setOrganizationMember`. */
export const SetMember = z
  .strictObject({ ...who, roleSlug, endsAt })
  .refine(isOne, ONE)
  .meta({ description: 'The member and its role. Set `userId` or `identityId`.' });

/** Input of `updateOrganizationMember`. */
export const UpdateMember = z
  .strictObject({ id: idOf('membership'), roleSlug: roleSlug.optional(), endsAt })
  .meta({ description: 'Fields to change. Omitted fields keep their values.' });

/** Input of `removeOrganizationMember`. */
export const RemoveMember = z
  .strictObject(who)
  .refine(isOne, ONE)
  .meta({ description: 'The member to remove. Set `userId` or `identityId`.' });

/** Arguments of `organizationMembers`. */
export const ListMembers = z.strictObject({ organizationId, ...pageRules, ...orderRules });
