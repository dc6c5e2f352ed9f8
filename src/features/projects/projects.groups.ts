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
    description: 'The users and machine identities of a project, and the roles that they have in it.',
    paths: /memberships\b/,
    parameters: { userId: 'The user.' },
  },
  {
    name: 'roles',
    title: 'Roles',
    description: 'What members of a project may do: roles of your own beside those that every project has.',
    paths: /\/roles\b/,
  },
];
