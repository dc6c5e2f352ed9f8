import { defineEntity, p } from '@mikro-orm/core';
import { newId } from '../../../kernel/ids.js';

/** Term of a temporary role. Times are ISO 8601. */
export interface RoleTerm {
  /** Duration as in the request: `2h`. */
  readonly range: string;
  readonly startsAt: string;
  readonly endsAt: string;
}

export const ProjectMembershipSchema = defineEntity({
  name: 'ProjectMembership',
  tableName: 'project_membership',
  properties: {
    id: p.uuid().primary().onCreate(newId),
    organizationId: p.uuid(),
    projectId: p.uuid(),
    userId: p.uuid().nullable(),
    identityId: p.uuid().nullable(),
    groupId: p.uuid().nullable(),
    /** Triggers keep it that of the member. */
    name: p.text().defaultRaw(`''`),
    roles: p.array(),
    roleTerms: p.json<Readonly<Record<string, RoleTerm>>>().nullable(),
    createdAt: p.datetime(3).defaultRaw('now()'),
    updatedAt: p.datetime(3).defaultRaw('now()'),
  },
});

/**
 * A user, an identity or a group in a project. Foreign keys to its organization membership guarantee that every member
 * is a member of the organization, and that leaving the organization leaves its projects. The trigger
 * `project_keeps_an_admin` rejects whatever would leave a project without an admin.
 */
export class ProjectMembership extends ProjectMembershipSchema.class {}
ProjectMembershipSchema.setClass(ProjectMembership);
