import { z } from 'zod';
import { pageRules } from '../../kernel/graphql/page.js';
import { storedText } from '../../kernel/text-rules.js';
import { folderName, folderPath, place } from './place.rules.js';

const { projectId, environment } = place;
const path = folderPath.default('/');
const description = storedText(1_024).nullish();

/** Input of `createFolder`. Source: behaviour 10 (Folders). */
export const CreateFolder = z.strictObject({ projectId, environment, path, name: folderName, description });

/** Input of `updateFolder`: absent keeps, a null description clears. The folder must be in the folder at `path` when that is given. */
export const UpdateFolder = z.strictObject({
  projectId,
  environment,
  path: folderPath.nullish(),
  folderId: z.string(),
  name: folderName.optional(),
  description,
});

/** Input of `deleteFolder`. */
export const DeleteFolder = z.strictObject({
  projectId,
  environment,
  path,
  folderIdOrName: z.string().min(1).max(255),
  forceDelete: z.boolean().default(false),
});

/** Arguments of `folder`. */
export const GetFolder = z.strictObject({ id: z.string() });

/** Arguments of `folders`. */
export const ListFolders = z.strictObject({ projectId, environment, path, ...pageRules });
