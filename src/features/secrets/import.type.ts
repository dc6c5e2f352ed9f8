import { Field, ID, Int, ObjectType } from 'type-graphql';
import { DateTime } from '../../kernel/graphql/date-time.js';
import { inputOf, inputType, payloadOf } from '../../kernel/graphql/inputs.js';
import { Node } from '../../kernel/graphql/node.js';
import { connectionOf } from '../../kernel/graphql/page.js';
import { CreateImport, DeleteImport, ImportLocation, UpdateImport } from './import.rules.js';

/** What the API shows of a folder at one end of an import. */
@ObjectType('SecretImportEnd', { description: 'A folder at one end of an import.', simpleResolvers: true })
export class ImportEndType {
  @Field(() => ID, { description: 'ID of the folder.' })
  folderId!: string;

  @Field(() => String, { description: 'Path of the folder, as `/` or `/payments/eu`.' })
  path!: string;

  @Field(() => ID, { description: 'ID of its environment.' })
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
  @Field(() => ID, { description: 'ID of the import.' })
  id!: string;

  @Field(() => ID, { description: 'ID of the project.' })
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

inputType('SecretImportLocationInput', ImportLocation);
export const CreateSecretImportInput = inputOf('createSecretImport', CreateImport);
export const UpdateSecretImportInput = inputOf('updateSecretImport', UpdateImport);
export const DeleteSecretImportInput = inputOf('deleteSecretImport', DeleteImport);

export const CreateSecretImportPayload = payloadOf('createSecretImport', {
  secretImport: [ImportType, 'The import.'],
});
export const UpdateSecretImportPayload = payloadOf('updateSecretImport', {
  secretImport: [ImportType, 'The import.'],
});
export const DeleteSecretImportPayload = payloadOf('deleteSecretImport', {
  secretImport: [ImportType, 'The import as it was.'],
});
