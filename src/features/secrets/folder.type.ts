import { Field, ID, Int, ObjectType } from 'type-graphql';
import { DateTime } from '../../kernel/graphql/date-time.js';
import { inputOf, inputType, payloadOf } from '../../kernel/graphql/inputs.js';
import { Node } from '../../kernel/graphql/node.js';
import { connectionOf } from '../../kernel/graphql/page.js';
import type { ProjectAccess } from '../projects/public.js';
import {
  CreateFolder,
  DeleteFolder,
  DeleteFolderByName,
  FolderChange,
  FolderLocation,
  FolderLocationInProject,
  UpdateFolder,
  UpdateFolders,
} from './folder.rules.js';

/** What the API shows of a folder. `access` is for field resolvers and is no field itself. */
@ObjectType('Folder', {
  implements: Node,
  description: 'A folder of an environment. It holds secrets and folders.',
  simpleResolvers: true,
})
export class FolderType {
  readonly access!: ProjectAccess;

  @Field(() => ID, { description: 'ID of the folder.' })
  id!: string;

  @Field(() => ID, { description: 'ID of the project.' })
  projectId!: string;

  @Field(() => ID, { description: 'ID of the environment.' })
  environmentId!: string;

  @Field(() => String, { description: 'Slug of the environment, as `prod`.' })
  environmentSlug!: string;

  @Field(() => String, { description: 'Name of the environment.' })
  environmentName!: string;

  @Field(() => ID, { nullable: true, description: 'The folder that it is in; null for the root folder.' })
  parentId!: string | null;

  @Field(() => String, { description: 'Its name; `root` for the root folder.' })
  name!: string;

  @Field(() => String, { description: 'Its whole path, from `/`.' })
  path!: string;

  @Field(() => String, { nullable: true, description: 'What people wrote about it.' })
  description!: string | null;

  @Field(() => Int, { description: 'Rises by one with every change of its name or description.' })
  version!: number;

  @Field(() => DateTime, { description: 'When it was made.' })
  createdAt!: Date;

  @Field(() => DateTime, { description: 'When it was last changed.' })
  updatedAt!: Date;
}

export const FolderConnection = connectionOf(FolderType, 'Folder', 'path');

/** A folder of a tree. */
@ObjectType('FolderTreeEntry', { description: 'A folder of a tree.', simpleResolvers: true })
export class FolderTreeEntryType {
  @Field(() => FolderType, { description: 'The folder.' })
  folder!: FolderType;

  @Field(() => Int, { description: 'How far it is below the folder asked for, which has 0.' })
  depth!: number;

  @Field(() => Int, { description: 'How many secrets are right in it, of those that the caller may know of.' })
  secretCount!: number;
}

export const CreateFolderInput = inputOf('createFolder', CreateFolder);
inputType('FolderLocationInput', FolderLocation);
export const UpdateFolderInput = inputOf('updateFolder', UpdateFolder);
inputType('FolderLocationInProjectInput', FolderLocationInProject);
inputType('FolderChangeInput', FolderChange);
export const UpdateFoldersInput = inputOf('updateFolders', UpdateFolders);
export const DeleteFolderInput = inputOf('deleteFolder', DeleteFolder);
export const DeleteFolderByNameInput = inputOf('deleteFolderByName', DeleteFolderByName);

export const CreateFolderPayload = payloadOf('createFolder', {
  folder: [FolderType, 'The folder.'],
});
export const UpdateFolderPayload = payloadOf('updateFolder', {
  folder: [FolderType, 'The folder.'],
});

@ObjectType({ description: 'The folders after the changes.' })
export class UpdateFoldersPayload {
  @Field(() => [FolderType], { description: 'The folders, in the order of the changes.' })
  folders!: readonly FolderType[];
}

export const DeleteFolderPayload = payloadOf('deleteFolder', {
  folder: [FolderType, 'The folder as it was.'],
});
export const DeleteFolderByNamePayload = payloadOf('deleteFolderByName', {
  folder: [FolderType, 'The folder as it was.'],
});
