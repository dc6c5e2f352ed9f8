import { ID, Int } from 'type-graphql';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { inputType } from '../../../kernel/graphql/inputs.js';
import { Node } from '../../../kernel/graphql/node.js';
import { hidden, objectType, orNull } from '../../../kernel/graphql/object-types.js';
import { connectionOf } from '../../../kernel/graphql/page.js';
import type { ProjectAccess } from '../../projects/public.js';
import { FolderChange, FolderLocation, FolderLocationInProject } from './folder.rules.js';

/** API type of a folder. `access` is for field resolvers and is not itself a field. */
export const FolderType = objectType(
  'Folder',
  'A folder of an environment. Folders contain secrets and folders.',
  {
    access: hidden<ProjectAccess>(),
    id: [ID, 'ID of the folder.'],
    projectId: [ID, 'ID of the project.'],
    environmentId: [ID, 'ID of the environment.'],
    environmentSlug: [String, 'Slug of the environment, for example `prod`.'],
    environmentName: [String, 'Name of the environment, for example `Production`.'],
    parentId: [orNull(ID), 'ID of the parent folder; null for the root folder.'],
    name: [String, 'Name of the folder; `root` for the root folder.'],
    path: [String, 'Full path of the folder, for example `/payments/eu`; `/` for the root folder.'],
    description: [orNull(String), 'Description of the folder.'],
    version: [Int, 'Version of the folder. Increments with every change of the name or description.'],
    createdAt: [DateTime, 'When the folder was created.'],
    updatedAt: [DateTime, 'When the folder was last changed.'],
  },
  { implements: Node },
);
export type FolderType = InstanceType<typeof FolderType>;

export const FolderConnection = connectionOf(FolderType, 'Folder', 'path');

/** A folder of a tree. */
export const FolderTreeEntryType = objectType('FolderTreeEntry', 'A folder of a folder tree.', {
  folder: [FolderType, 'The folder.'],
  depth: [Int, 'Depth below the folder at the top of the tree, which has depth 0.'],
  secretCount: [Int, 'Number of secrets directly in the folder that you can see.'],
});
export type FolderTreeEntryType = InstanceType<typeof FolderTreeEntryType>;

inputType('FolderLocationInput', FolderLocation);
inputType('FolderLocationInProjectInput', FolderLocationInProject);
inputType('FolderChangeInput', FolderChange);
