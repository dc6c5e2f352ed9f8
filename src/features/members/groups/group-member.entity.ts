import { defineEntity, p } from '@mikro-orm/core';
import { organizationColumns } from '../../../kernel/database/columns.js';

export const GroupMemberSchema = defineEntity({
  name: 'GroupMember',
  tableName: 'group_member',
  uniques: [
    { name: 'group_member_user_unique', properties: ['groupId', 'userId'] },
    { name: 'group_member_identity_unique', properties: ['groupId', 'identityId'] },
  ],
  properties: {
    ...organizationColumns,
    groupId: p.uuid(),
    userId: p.uuid().nullable(),
    identityId: p.uuid().nullable(),
    /** Triggers keep it that of the member. */
    name: p.text().defaultRaw(`''`),
  },
});

/** A user or a machine identity (exactly one of the two) in a group. Whoever leaves the organization leaves the group. */
export class GroupMember extends GroupMemberSchema.class {}
GroupMemberSchema.setClass(GroupMember);
