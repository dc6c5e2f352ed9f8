import { defineEntity, p } from '@mikro-orm/core';
import { newId } from '../../../../kernel/ids.js';

export const OrganizationMembershipSchema = defineEntity({
  name: 'OrganizationMembership',
  tableName: 'organization_membership',
  properties: {
    id: p.uuid().primary().onCreate(newId),
    organizationId: p.uuid(),
    userId: p.uuid().nullable(),
    identityId: p.uuid().nullable(),
    groupId: p.uuid().nullable(),
    /** Triggers keep it that of the member. Groups and identities of projects are not listed: they have none. */
    name: p.text().defaultRaw(`''`),
    role: p.text(),
    endsAt: p.datetime(3).nullable(),
    createdAt: p.datetime(3).defaultRaw('now()'),
    updatedAt: p.datetime(3).defaultRaw('now()'),
  },
});

/** What a user, a machine identity or a group (exactly one of them) is in an organization: `role` is the slug of a role. */
export class OrganizationMembership extends OrganizationMembershipSchema.class {}
OrganizationMembershipSchema.setClass(OrganizationMembership);
