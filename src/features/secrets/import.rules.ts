import { z } from 'zod';
import { pageRules } from '../../kernel/paging.js';
import { folderPath, place } from './place.rules.js';

const { projectId, environment } = place;
const path = folderPath.default('/');
const position = z.int().min(1).max(1_000_000);

/** Input of `createSecretImport`. A new import comes last. Source: behaviour 10 (Imports). */
export const CreateImport = z.strictObject({
  projectId,
  environment,
  path,
  sourceEnvironment: environment,
  sourcePath: path,
});

/** Input of `updateSecretImport`: absent keeps. A position moves it there, and the others make room. */
export const UpdateImport = z.strictObject({
  projectId,
  environment,
  path,
  importId: z.string(),
  sourceEnvironment: environment.optional(),
  sourcePath: folderPath.optional(),
  position: position.optional(),
});

/** Input of `deleteSecretImport`. */
export const DeleteImport = z.strictObject({ projectId, environment, path, importId: z.string() });

/** Arguments of `secretImport`. */
export const GetImport = z.strictObject({ id: z.string() });

/** Arguments of `secretImports`. */
export const ListImports = z.strictObject({ projectId, environment, path, ...pageRules });

/** A key of a cursor of imports that the statement can take. */
export const isPosition = (text: string): boolean => /^\d{1,9}$/.test(text);

/** `import` of a REST body: the folder to import from. */
export const ImportSource = z.strictObject({ environment, path });

/** `import` of a REST body that changes one. */
export const ImportChange = z.strictObject({
  environment: environment.optional(),
  path: folderPath.optional(),
  position: position.optional(),
});
