import type { Group } from '../../rest/openapi/groups.js';

/** Groups of the API reference. */
export const groups: readonly Group[] = [
  {
    name: 'projects',
    title: 'Projects',
    description: 'What holds environments, folders, secrets and members. Older paths call a project a workspace.',
    paths: /^\/api\/v\d\/(projects|workspace)(\/slug)?(\/\{\w+\})?$/,
    parameters: { workspaceId: 'The project.' },
  },
  {
    name: 'environments',
    title: 'Environments',
    description: 'The stages of a project, as `dev` and `prod`. Each has folders and secrets of its own.',
    paths: /\/environments\b/,
  },
  {
    name: 'members',
    title: 'Members',
    description:
      'The users, machine identities and groups of a project, and the roles that they have in it, for good or for a time.',
    paths: /memberships\b|\/workspace\/\{projectId\}\/groups\b/,
    parameters: {
      userId: 'The user.',
      groupIdOrName: 'The group: its id, its slug, or its name where no other has it.',
    },
  },
  {
    name: 'roles',
    title: 'Roles',
    description: 'What members of a project may do: roles of your own beside those that every project has.',
    paths: /\/roles\b/,
  },
];
