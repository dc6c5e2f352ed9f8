import { z } from 'zod';
import { pageRules } from '../../kernel/paging.js';
import { storedText } from '../../kernel/text-rules.js';
import { folderName, folderPath, place } from './place.rules.js';

const { projectId, environment } = place;
const path = folderPath.default('/');
const MAX_BATCH = 1_000;
const description = storedText(1_024).nullish();

/** Input of `createFolder`. Source: behaviour 10 (Folders). */
export const CreateFolder = z.strictObject({ projectId, environment, path, name: folderName, description });

/**
 * What may change of a folder: absent keeps, a null description clears. The folder must be in the folder at `path` when that
 * is given, and goes into the one at `newPath`.
 */
const changes = {
  environment,
  path: folderPath.nullish(),
  name: folderName.optional(),
  newPath: folderPath.nullish(),
  description,
};
const FolderChange = z.strictObject({ ...changes, folderId: z.string() });
export type FolderChange = z.infer<typeof FolderChange>;

/** Input of `updateFolder`. */
export const UpdateFolder = FolderChange.extend({ projectId });

/** Input of `updateFolders`: all or nothing, 1 to 1,000, no folder twice. */
export const UpdateFolders = z.strictObject({ projectId, folders: z.array(FolderChange).min(1).max(MAX_BATCH) });

/** The same as the REST route has it. */
export const UpdateFoldersBody = UpdateFolders.extend({
  folders: z
    .array(z.strictObject({ ...changes, id: z.string() }))
    .min(1)
    .max(MAX_BATCH),
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
export const ListFolders = z.strictObject({
  projectId,
  environment,
  path,
  recursive: z.boolean().default(false),
  lastSecretModified: z.date().nullish(),
  ...pageRules,
});

/** Arguments of `folderTree`. */
export const FolderTree = z.strictObject({ projectId, environment, path });

/** Paging of a list inside of another answer. */
export const Paging = z.strictObject(pageRules);
