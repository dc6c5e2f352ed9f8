import { defineEntity, type Opt, p } from '@mikro-orm/core';
import { projectColumns } from '../../../kernel/database/columns.js';

export const AdditionalPrivilegeSchema = defineEntity({
  name: 'AdditionalPrivilege',
  tableName: 'additional_privilege',
  uniques: [{ name: 'additional_privilege_slug_unique', properties: ['membershipId', 'slug'] }],
  properties: {
    ...projectColumns,
    membershipId: p.uuid(),
    slug: p.text(),
    permissions: p.json<unknown>(),
    permissionsDigest: p.text().$type<Opt<string>>().generated('(rules_digest(permissions)) stored'),
    temporaryRange: p.text().nullable(),
    startsAt: p.datetime(3).nullable(),
    endsAt: p.datetime(3).nullable(),
  },
});

/**
 * Permission rules for one member of a project, evaluated after those of its roles; temporary, or for as long as it is
 * a member.
 */
export class AdditionalPrivilege extends AdditionalPrivilegeSchema.class {}
AdditionalPrivilegeSchema.setClass(AdditionalPrivilege);
