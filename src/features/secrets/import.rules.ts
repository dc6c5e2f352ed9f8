import { z } from 'zod';
import { integer } from '../../kernel/int.js';
import { pageRules } from '../../kernel/paging.js';
import { idOf } from '../../kernel/text-rules.js';
import { folderPath, place } from './place.rules.js';

const projectId = idOf('project');
const { environment } = place;
const path = folderPath.default('/');
const id = idOf('import');
const sourceEnvironment = environment.meta({ description: 'Slug of the environment to import from, as `staging`.' });
const SOURCE_PATH = { description: 'Path of the folder to import from, as `/shared`.' };
const position = integer(1, 1_000_000);

/** The folder that imports. */
export const importing = {
  projectId,
  environment: environment.meta({ description: 'Slug of the environment of the folder that imports, as `prod`.' }),
  path: path.meta({ description: 'Path of the folder that imports, as `/payments`.' }),
};

/** Input of `createSecretImport`. A new import comes last. Source: behaviour 10 (Imports). */
export const CreateImport = z
  .strictObject({ ...importing, sourceEnvironment, sourcePath: path.meta(SOURCE_PATH) })
  .meta({ description: 'Which folder imports from which. A new import comes last.' });

/** `onlyIn` of changes and deletions. */
export const ImportLocation = z.strictObject(importing).meta({ description: 'The folder that imports.' });

const onlyIn = ImportLocation.nullish().meta({
  description: 'The folder that must have it: in another one it is not found. Without this any folder may have it.',
});

/** Input of `updateSecretImport`: absent keeps. A position moves it there, and the others make room. */
export const UpdateImport = z
  .strictObject({
    id,
    onlyIn,
    sourceEnvironment: sourceEnvironment.optional(),
    sourcePath: folderPath.optional().meta(SOURCE_PATH),
    position: position.optional().meta({
      description: 'Its new place, from 1; the others make room. Beyond the end is the end.',
    }),
  })
  .meta({ description: 'What changes of an import; what is absent stays.' });

/** Input of `deleteSecretImport`. */
export const DeleteImport = z.strictObject({ id, onlyIn }).meta({ description: 'Which import is deleted.' });

/** Arguments of `secretImport`. */
export const GetImport = z.strictObject({ id: z.string() });

/** Arguments of `secretImports`. */
export const ListImports = z.strictObject({ ...importing, ...pageRules });

/** A key of a cursor of imports that the statement can take. */
export const isPosition = (text: string): boolean => /^0\d{9}$/.test(text);

/** `import` of a REST body: the folder to import from. */
export const ImportSource = z.strictObject({ environment, path });

/** `import` of a REST body that changes one. */
export const ImportChange = z.strictObject({
  environment: environment.optional(),
  path: folderPath.optional(),
  position: position.optional(),
});
