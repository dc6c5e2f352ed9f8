import { Field, ID, Int, ObjectType } from 'type-graphql';
import { DateTime } from '../../kernel/graphql/date-time.js';
import { inputType, payloadType } from '../../kernel/graphql/inputs.js';
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

  @Field(() => ID, { description: 'Id of the folder.' })
  id!: string;

  @Field(() => ID, { description: 'The project.' })
  projectId!: string;

  @Field(() => ID, { description: 'The environment.' })
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

export const CreateFolderInput = inputType('CreateFolderInput', CreateFolder);
inputType('FolderLocationInput', FolderLocation);
export const UpdateFolderInput = inputType('UpdateFolderInput', UpdateFolder);
inputType('FolderLocationInProjectInput', FolderLocationInProject);
inputType('FolderChangeInput', FolderChange);
export const UpdateFoldersInput = inputType('UpdateFoldersInput', UpdateFolders);
export const DeleteFolderInput = inputType('DeleteFolderInput', DeleteFolder);
export const DeleteFolderByNameInput = inputType('DeleteFolderByNameInput', DeleteFolderByName);

export const CreateFolderPayload = payloadType('CreateFolderPayload', 'The new folder, or the one that was there.', {
  folder: [FolderType, 'The folder.'],
});
export const UpdateFolderPayload = payloadType('UpdateFolderPayload', 'The folder after the change.', {
  folder: [FolderType, 'The folder.'],
});

@ObjectType({ description: 'The folders after the changes.' })
export class UpdateFoldersPayload {
  @Field(() => [FolderType], { description: 'The folders, in the order of the changes.' })
  folders!: readonly FolderType[];
}

export const DeleteFolderPayload = payloadType('DeleteFolderPayload', 'The deleted folder.', {
  folder: [FolderType, 'The folder as it was.'],
});
export const DeleteFolderByNamePayload = payloadType('DeleteFolderByNamePayload', 'The deleted folder.', {
  folder: [FolderType, 'The folder as it was.'],
});
