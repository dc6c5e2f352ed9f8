import { Field, ID, Int, ObjectType } from 'type-graphql';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { inputType } from '../../../kernel/graphql/inputs.js';
import { Node } from '../../../kernel/graphql/node.js';
import { connectionOf } from '../../../kernel/graphql/page.js';
import type { ProjectAccess } from '../../projects/public.js';
import { FolderChange, FolderLocation, FolderLocationInProject } from './folder.rules.js';

/** API type of a folder. `access` is for field resolvers and is not itself a field. */
@ObjectType('Folder', {
  implements: Node,
  description: 'A folder of an environment. Folders contain secrets and folders.',
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

  @Field(() => String, { description: 'Slug of the environment, for example `prod`.' })
  environmentSlug!: string;

  @Field(() => String, { description: 'Name of the environment, for example `Production`.' })
  environmentName!: string;

  @Field(() => ID, { nullable: true, description: 'ID of the parent folder; null for the root folder.' })
  parentId!: string | null;

  @Field(() => String, { description: 'Name of the folder; `root` for the root folder.' })
  name!: string;

  @Field(() => String, { description: 'Full path of the folder, for example `/payments/eu`; `/` for the root folder.' })
  path!: string;

  @Field(() => String, { nullable: true, description: 'Description of the folder.' })
  description!: string | null;

  @Field(() => Int, { description: 'Version of the folder. Increments with every change of the name or description.' })
  version!: number;

  @Field(() => DateTime, { description: 'When the folder was created.' })
  createdAt!: Date;

  @Field(() => DateTime, { description: 'When the folder was last changed.' })
  updatedAt!: Date;
}

export const FolderConnection = connectionOf(FolderType, 'Folder', 'path');

/** A folder of a tree. */
@ObjectType('FolderTreeEntry', { description: 'A folder of a folder tree.', simpleResolvers: true })
export class FolderTreeEntryType {
  @Field(() => FolderType, { description: 'The folder.' })
  folder!: FolderType;

  @Field(() => Int, { description: 'Depth below the folder at the top of the tree, which has depth 0.' })
  depth!: number;

  @Field(() => Int, { description: 'Number of secrets directly in the folder that you can see.' })
  secretCount!: number;
}

inputType('FolderLocationInput', FolderLocation);
inputType('FolderLocationInProjectInput', FolderLocationInProject);
inputType('FolderChangeInput', FolderChange);
