import { defineEntity, p } from '@mikro-orm/core';
import { organizationColumns } from '../../../kernel/database/columns.js';

export const GroupSchema = defineEntity({
  name: 'Group',
  tableName: 'member_group',
  uniques: [{ name: 'member_group_slug_unique', properties: ['organizationId', 'slug'] }],
  properties: { ...organizationColumns, name: p.text(), slug: p.text() },
});

/** Users and machine identities of an organization that are given roles together. */
export class Group extends GroupSchema.class {}
GroupSchema.setClass(Group);
