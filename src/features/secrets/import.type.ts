import { Field, ID, InputType, Int, ObjectType } from 'type-graphql';
import { DateTime } from '../../kernel/graphql/date-time.js';
import { Node } from '../../kernel/graphql/node.js';
import { connectionOf } from '../../kernel/graphql/page.js';

/** What the API shows of a folder at one end of an import. */
@ObjectType('SecretImportEnd', { description: 'A folder at one end of an import.', simpleResolvers: true })
export class ImportEndType {
  @Field(() => ID, { description: 'Id of the folder.' })
  folderId!: string;

  @Field(() => String, { description: 'Path of the folder, as `/` or `/payments/eu`.' })
  path!: string;

  @Field(() => ID, { description: 'Id of its environment.' })
  environmentId!: string;

  @Field(() => String, { description: 'Slug of its environment.' })
  environmentSlug!: string;

  @Field(() => String, { description: 'Name of its environment.' })
  environmentName!: string;
}

/** What the API shows of an import. */
@ObjectType('SecretImport', {
  implements: Node,
  description: 'A folder imports from another: its readers get the secrets of that one too.',
  simpleResolvers: true,
})
export class ImportType {
  @Field(() => ID, { description: 'Id of the import.' })
  id!: string;

  @Field(() => ID, { description: 'The project.' })
  projectId!: string;

  @Field(() => ImportEndType, { description: 'The folder that imports.' })
  folder!: ImportEndType;

  @Field(() => ImportEndType, { description: 'The folder that it imports from.' })
  source!: ImportEndType;

  @Field(() => Int, {
    description: 'Its place among the imports of the folder, from 1 without gaps. Of equal keys the last one wins.',
  })
  position!: number;

  @Field(() => DateTime, { description: 'When it was made.' })
  createdAt!: Date;

  @Field(() => DateTime, { description: 'When it was last changed.' })
  updatedAt!: Date;
}

export const ImportConnection = connectionOf(ImportType, 'SecretImport', 'position');

@InputType({ description: 'Which folder imports from which. A new import comes last.' })
export class CreateSecretImportInput {
  @Field(() => ID, { description: 'The project.' })
  projectId!: string;

  @Field(() => String, { description: 'Slug of the environment of the folder that imports, as `prod`.' })
  environment!: string;

  @Field(() => String, { description: 'Path of the folder that imports, as `/payments`.', defaultValue: '/' })
  path!: string;

  @Field(() => String, { description: 'Slug of the environment to import from, as `staging`.' })
  sourceEnvironment!: string;

  @Field(() => String, { description: 'Path of the folder to import from, as `/shared`.', defaultValue: '/' })
  sourcePath!: string;
}

@InputType({ description: 'What changes of an import; what is absent stays.' })
export class UpdateSecretImportInput {
  @Field(() => ID, { description: 'The project.' })
  projectId!: string;

  @Field(() => String, { description: 'Slug of the environment of the folder that imports, as `prod`.' })
  environment!: string;

  @Field(() => String, { description: 'Path of the folder that imports, as `/payments`.', defaultValue: '/' })
  path!: string;

  @Field(() => ID, { description: 'The import.' })
  importId!: string;

  @Field(() => String, { nullable: true, description: 'Slug of the environment to import from, as `staging`.' })
  sourceEnvironment?: string;

  @Field(() => String, { nullable: true, description: 'Path of the folder to import from, as `/shared`.' })
  sourcePath?: string;

  @Field(() => Int, {
    nullable: true,
    description: 'Its new place, from 1; the others make room. Beyond the end is the end.',
  })
  position?: number;
}

@InputType({ description: 'Which import goes.' })
export class DeleteSecretImportInput {
  @Field(() => ID, { description: 'The project.' })
  projectId!: string;

  @Field(() => String, { description: 'Slug of the environment of the folder that imports, as `prod`.' })
  environment!: string;

  @Field(() => String, { description: 'Path of the folder that imports, as `/payments`.', defaultValue: '/' })
  path!: string;

  @Field(() => ID, { description: 'The import.' })
  importId!: string;
}

@ObjectType({ description: 'The new import.' })
export class CreateSecretImportPayload {
  @Field(() => ImportType, { description: 'The import.' })
  secretImport!: ImportType;
}

@ObjectType({ description: 'The import after the change.' })
export class UpdateSecretImportPayload {
  @Field(() => ImportType, { description: 'The import.' })
  secretImport!: ImportType;
}

@ObjectType({ description: 'The import that is gone.' })
export class DeleteSecretImportPayload {
  @Field(() => ImportType, { description: 'As it was.' })
  secretImport!: ImportType;
}
