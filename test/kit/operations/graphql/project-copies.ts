import { type GraphQLOperation, powerless } from '../operation.js';

/** Copies of projects. */
export const projectCopies: readonly GraphQLOperation[] = [
  {
    field: 'copyProject',
    args: {
      projectId: '$project',
      name: 'Copy',
      parts: ['SETTINGS', 'ENVIRONMENTS', 'FOLDERS', 'ROLES', 'MEMBERS', 'TAGS', 'SECRET_VALUES'],
      // What it changes is recorded in both projects.
      dryRun: true,
    },
    audit: 'project:copy-dry-run',
    denial: powerless('workspace:create'),
  },
];
