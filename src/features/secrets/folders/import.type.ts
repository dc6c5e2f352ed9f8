import { Field, ID, Int, ObjectType } from 'type-graphql';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { inputType } from '../../../kernel/graphql/inputs.js';
import { Node } from '../../../kernel/graphql/node.js';
import { connectionOf } from '../../../kernel/graphql/page.js';
import { ImportLocation } from './import.rules.js';

/** API type of a folder at one end of an import. */
@ObjectType('SecretImportEnd', { description: 'A folder at one end of an import.', simpleResolvers: true })
export class ImportEndType {
  @Field(() => ID, { description: 'ID of the folder.' })
  folderId!: string;

  @Field(() => String, { description: 'Path of the folder, for example `/payments/eu`.' })
  path!: string;

  @Field(() => ID, { description: 'ID of the environment of the folder.' })
  environmentId!: string;

  @Field(() => String, { description: 'Slug of the environment of the folder, for example `prod`.' })
  environmentSlug!: string;

  @Field(() => String, { description: 'Name of the environment of the folder, for example `Production`.' })
  environmentName!: string;
}

/** API type of an import. */
@ObjectType('SecretImport', {
  implements: Node,
  description:
    'An import of one folder into another: reading the importing folder can also return the secrets of the imported folder.',
  simpleResolvers: true,
})
export class ImportType {
  @Field(() => ID, { description: 'ID of the import.' })
  id!: string;

  @Field(() => ID, { description: 'ID of the project.' })
  projectId!: string;

  @Field(() => ImportEndType, { description: 'The importing folder.' })
  folder!: ImportEndType;

  @Field(() => ImportEndType, { description: 'The imported folder.' })
  source!: ImportEndType;

  @Field(() => Int, {
    description:
      'Position among the imports of the folder, from 1 without gaps. If several imports have a key, the last one wins.',
  })
  position!: number;

  @Field(() => DateTime, { description: 'When the import was created.' })
  createdAt!: Date;

  @Field(() => DateTime, { description: 'When the import was last changed.' })
  updatedAt!: Date;
}

export const ImportConnection = connectionOf(ImportType, 'SecretImport', 'position');

inputType('SecretImportLocationInput', ImportLocation);
