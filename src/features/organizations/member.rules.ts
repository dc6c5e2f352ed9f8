import { z } from 'zod';
import { pageRules } from '../../kernel/paging.js';
import { organizationRole } from './organization.rules.js';

const who = {
  organizationId: z.string().nullish(),
  userId: z.string().nullish(),
  identityId: z.string().nullish(),
};

const isOne = ({ userId, identityId }: { userId?: unknown; identityId?: unknown }): boolean =>
  (userId == null) !== (identityId == null);
const ONE = { path: ['userId'], error: 'must be given, or else identityId, not both' };

/** Input of `setOrganizationMember`. */
export const SetMember = z.strictObject({ ...who, role: organizationRole }).refine(isOne, ONE);

/** Input of `removeOrganizationMember`. */
export const RemoveMember = z.strictObject(who).refine(isOne, ONE);

/** Arguments of `organizationMembers`. */
export const ListMembers = z.strictObject({ organizationId: z.string().nullish(), ...pageRules });
