import { ID, Int } from 'type-graphql';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { inputType } from '../../../kernel/graphql/inputs.js';
import { Node } from '../../../kernel/graphql/node.js';
import { objectType } from '../../../kernel/graphql/object-types.js';
import { connectionOf } from '../../../kernel/graphql/page.js';
import { ImportLocation } from './import.rules.js';

/** API type of a folder at one end of an import. */
export const ImportEndType = objectType('SecretImportEnd', 'A folder at one end of an import.', {
  folderId: [ID, 'ID of the folder.'],
  path: [String, 'Path of the folder, for example `/payments/eu`.'],
  environmentId: [ID, 'ID of the environment of the folder.'],
  environmentSlug: [String, 'Slug of the environment of the folder, for example `prod`.'],
  environmentName: [String, 'Name of the environment of the folder, for example `Production`.'],
});
export type ImportEndType = InstanceType<typeof ImportEndType>;

/** API type of an import. */
export const ImportType = objectType(
  'SecretImport',
  'An import of one folder into another: reading the importing folder can also return the secrets of the imported folder.',
  {
    id: [ID, 'ID of the import.'],
    projectId: [ID, 'ID of the project.'],
    folder: [ImportEndType, 'The importing folder.'],
    source: [ImportEndType, 'The imported folder.'],
    position: [
      Int,
      'Position among the imports of the folder, from 1 without gaps. If several imports have a key, the last one wins.',
    ],
    createdAt: [DateTime, 'When the import was created.'],
    updatedAt: [DateTime, 'When the import was last changed.'],
  },
  { implements: Node },
);
export type ImportType = InstanceType<typeof ImportType>;

export const ImportConnection = connectionOf(ImportType, 'SecretImport', 'position');

inputType('SecretImportLocationInput', ImportLocation);
