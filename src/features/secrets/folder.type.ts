import { Field, ID, InputType, Int, ObjectType } from 'type-graphql';
import { DateTime } from '../../kernel/graphql/date-time.js';
import { Node } from '../../kernel/graphql/node.js';
import { connectionOf } from '../../kernel/graphql/page.js';
import type { ProjectAccess } from '../projects/public.js';

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

@InputType({ description: 'What a new folder is. What is missing above it is made too.' })
export class CreateFolderInput {
  @Field(() => ID, { description: 'The project.' })
  projectId!: string;

  @Field(() => String, { description: 'Slug of the environment, as `prod`.' })
  environment!: string;

  @Field(() => String, { description: 'Path of the folder that it goes into, as `/payments`.', defaultValue: '/' })
  path!: string;

  @Field(() => String, { description: 'Letters, digits, - and _, as `eu_west-1`, 1 to 255 characters.' })
  name!: string;

  @Field(() => String, { nullable: true, description: 'Up to 1,024 characters.' })
  description?: string | null;
}

@InputType({ description: 'What changes of a folder; what is absent stays.' })
export class FolderChangeInput {
  @Field(() => String, { description: 'Slug of the environment, as `prod`.' })
  environment!: string;

  @Field(() => String, {
    nullable: true,
    description: 'Path of the folder that it is in, to be sure; any when absent.',
  })
  path?: string | null;

  @Field(() => ID, { description: 'The folder.' })
  folderId!: string;

  @Field(() => String, {
    nullable: true,
    description: 'Letters, digits, - and _, as `eu_west-1`, 1 to 255 characters.',
  })
  name?: string;

  @Field(() => String, {
    nullable: true,
    description: 'Path of the folder of the same environment that it goes into; stays where it is when absent.',
  })
  newPath?: string | null;

  @Field(() => String, { nullable: true, description: 'Up to 1,024 characters; null clears it.' })
  description?: string | null;
}

@InputType({ description: 'What changes of a folder; what is absent stays.' })
export class UpdateFolderInput extends FolderChangeInput {
  @Field(() => ID, { description: 'The project.' })
  projectId!: string;
}

@InputType({ description: 'What changes of many folders of a project.' })
export class UpdateFoldersInput {
  @Field(() => ID, { description: 'The project.' })
  projectId!: string;

  @Field(() => [FolderChangeInput], {
    description: '1 to 1,000 changes, no folder twice. Their paths are those of before.',
  })
  folders!: FolderChangeInput[];
}

@InputType({ description: 'Which folder goes.' })
export class DeleteFolderInput {
  @Field(() => ID, { description: 'The project.' })
  projectId!: string;

  @Field(() => String, { description: 'Slug of the environment, as `prod`.' })
  environment!: string;

  @Field(() => String, {
    description: 'Path of the folder that it is in, when it is named by its name.',
    defaultValue: '/',
  })
  path!: string;

  @Field(() => String, { description: 'Id of the folder, or its name in the folder at `path`.' })
  folderIdOrName!: string;

  @Field(() => Boolean, { description: 'Delete it with the secrets and folders in it.', defaultValue: false })
  forceDelete!: boolean;
}

@ObjectType({ description: 'The new folder, or the one that was there.' })
export class CreateFolderPayload {
  @Field(() => FolderType, { description: 'The folder.' })
  folder!: FolderType;
}

@ObjectType({ description: 'The folder after the change.' })
export class UpdateFolderPayload {
  @Field(() => FolderType, { description: 'The folder.' })
  folder!: FolderType;
}

@ObjectType({ description: 'The folders after the changes.' })
export class UpdateFoldersPayload {
  @Field(() => [FolderType], { description: 'The folders, in the order of the changes.' })
  folders!: readonly FolderType[];
}

@ObjectType({ description: 'The folder that is gone.' })
export class DeleteFolderPayload {
  @Field(() => FolderType, { description: 'As it was.' })
  folder!: FolderType;
}
