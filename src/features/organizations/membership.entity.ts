import { defineEntity, p } from '@mikro-orm/core';
import { newId } from '../../kernel/ids.js';

const MembershipSchema = defineEntity({
  name: 'OrganizationMembership',
  tableName: 'organization_membership',
  properties: {
    id: p.uuid().primary().onCreate(newId),
    organizationId: p.uuid(),
    userId: p.uuid().nullable(),
    identityId: p.uuid().nullable(),
    role: p.string(),
  },
});

/** What a user or a machine identity (exactly one of the two) is in an organization. */
export class OrganizationMembership extends MembershipSchema.class {}
MembershipSchema.setClass(OrganizationMembership);
