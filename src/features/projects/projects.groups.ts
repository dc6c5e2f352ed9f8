import type { Group } from '../../rest/openapi/groups.js';

/** Groups of the API reference. */
export const groups: readonly Group[] = [
  {
    name: 'projects',
    title: 'Projects',
    description: 'Projects contain environments, folders, secrets and members. Older paths call a project a workspace.',
    paths: /^\/api\/v\d\/(projects|workspace)(\/slug)?(\/\{\w+\})?$/,
    parameters: { workspaceId: 'ID of the project.' },
  },
  {
    name: 'environments',
    permission: { subject: 'environments', nouns: /^(Environments?)$/ },
    title: 'Environments',
    description:
      'Environments are the stages of a project, for example `dev` and `prod`. Each has its own folders and secrets.',
    paths: /\/environments\b/,
  },
  {
    name: 'members',
    title: 'Members',
    description:
      'The users, machine identities and groups of a project, and their permanent and temporary roles in it.',
    paths: /memberships?\b|\/workspace\/\{projectId\}\/groups\b/,
    parameters: {
      userId: 'ID of the user.',
      membershipId: 'ID of the membership.',
      groupIdOrName: 'ID or slug of the group, or its name if no other group has it.',
    },
  },
  {
    name: 'roles',
    permission: { subject: 'role', nouns: /^(ProjectRoles?|ProjectRoleBySlug)$/ },
    title: 'Roles',
    description: 'Roles define what members of a project may do: the built-in roles, and custom roles of the project.',
    paths: /\/roles\b/,
    parameters: { projectSlug: 'Slug of the project.' },
  },
];
