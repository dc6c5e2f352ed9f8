import { defineEntity, p } from '@mikro-orm/core';
import { newId } from '../../kernel/ids.js';
import { ORGANIZATION_ROLES } from '../permissions/public.js';

export const OrganizationMembershipSchema = defineEntity({
  name: 'OrganizationMembership',
  tableName: 'organization_membership',
  properties: {
    id: p.uuid().primary().onCreate(newId),
    organizationId: p.uuid(),
    userId: p.uuid().nullable(),
    identityId: p.uuid().nullable(),
    role: p.enum(ORGANIZATION_ROLES),
    createdAt: p.datetime(3).defaultRaw('now()'),
    updatedAt: p.datetime(3).defaultRaw('now()'),
  },
});

/** What a user or a machine identity (exactly one of the two) is in an organization. */
export class OrganizationMembership extends OrganizationMembershipSchema.class {}
OrganizationMembershipSchema.setClass(OrganizationMembership);
