import { defineEntity, type Opt, p } from '@mikro-orm/core';
import { organizationColumns } from '../../../kernel/database/columns.js';

export const AllProjectsMembershipSchema = defineEntity({
  name: 'AllProjectsMembership',
  tableName: 'all_projects_membership',
  properties: {
    ...organizationColumns,
    userId: p.uuid().nullable(),
    identityId: p.uuid().nullable(),
    groupId: p.uuid().nullable(),
    role: p.text(),
    permissions: p.json<unknown>().nullable(),
    permissionsDigest: p.text().$type<Opt<string>>().nullable().generated('(rules_digest(permissions)) stored'),
    endsAt: p.datetime(3).nullable(),
  },
});

/**
 * A user, an identity or a group with a role in all projects of an organization, also in those that are made later. The
 * view `project_member_now` has it as a membership of each of them. Foreign keys end it with the membership of the
 * organization.
 */
export class AllProjectsMembership extends AllProjectsMembershipSchema.class {}
AllProjectsMembershipSchema.setClass(AllProjectsMembership);
