import * as z from 'zod';
import { pageRules } from '../../../kernel/paging.js';
import { idOf, integer } from '../../../kernel/value-rules.js';
import { folderPath, secretLocation } from '../scope/location.rules.js';

const projectId = idOf('project');
const { environment } = secretLocation;
const path = folderPath.default('/');
const id = idOf('import');
const sourceEnvironment = environment.meta({
  description: 'Slug of the environment to import from, for example `staging`.',
});
const SOURCE_PATH = { description: 'Path of the folder to import from, for example `/shared`.' };
const position = integer(1, 1_000_000);

/** The importing folder. */
export const importing = {
  projectId,
  environment: environment.meta({
    description: 'Slug of the environment of the importing folder, for example `prod`.',
  }),
  path: path.meta({ description: 'Path of the importing folder, for example `/payments`.' }),
};

/** Input of `createSecretImport`. A new import gets the last position. */
export const CreateImport = z
  .strictObject({ ...importing, sourceEnvironment, sourcePath: path.meta(SOURCE_PATH) })
  .meta({ description: 'The importing and the imported folder. A new import gets the last position.' });

/** `onlyIn` of changes and deletions. */
export const ImportLocation = z.strictObject(importing).meta({ description: 'Location of the importing folder.' });

const onlyIn = ImportLocation.nullish().meta({
  description:
    'Importing folder that the import must belong to: an import of another folder is not found. Any folder matches when absent.',
});

/** Input of `updateSecretImport`: absent keeps. A new position shifts the other imports. */
export const UpdateImport = z
  .strictObject({
    id,
    onlyIn,
    sourceEnvironment: sourceEnvironment.optional(),
    sourcePath: folderPath.optional().meta(SOURCE_PATH),
    position: position.optional().meta({
      description: 'New position, from 1; the other imports shift. A position beyond the end means the last one.',
    }),
  })
  .meta({ description: 'The import, by ID, and its new fields. Absent fields keep their values.' });

/** Input of `deleteSecretImport`. */
export const DeleteImport = z.strictObject({ id, onlyIn }).meta({ description: 'The import to delete, by ID.' });

/** Arguments of `secretImport`. */
export const GetImport = z.strictObject({ id });

/** Arguments of `secretImports`. */
export const ListImports = z.strictObject({ ...importing, environment, ...pageRules });

/** Arguments of `Environment.imports`. */
export const ImportsAt = z.strictObject({ path: importing.path, ...pageRules });

/** `import` of a REST body: the folder to import from. */
export const ImportSource = z.strictObject({ environment, path });

/** `import` of a REST body that changes one. */
export const ImportChange = z.strictObject({
  environment: environment.optional(),
  path: folderPath.optional(),
  position: position.optional(),
});
