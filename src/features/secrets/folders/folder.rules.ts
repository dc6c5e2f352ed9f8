import * as z from 'zod';
import { pageRules } from '../../../kernel/paging.js';
import { idOf, storedText } from '../../../kernel/value-rules.js';
import { folderName, folderPath, secretLocation } from '../scope/location.rules.js';

const projectId = idOf('project');
const environment = secretLocation.environment.meta({ description: 'Slug of the environment, for example `prod`.' });
const path = folderPath.default('/').meta({ description: 'Path of the parent folder, for example `/payments`.' });
const id = idOf('folder');
const name = folderName.meta({ description: 'Name of the folder: letters, digits, - and _, for example `eu_west-1`.' });
const MAX_BATCH = 1_000;
const description = storedText(1_024).nullish();

/** Input of `createFolder`. */
export const CreateFolder = z
  .strictObject({
    projectId,
    environment,
    path,
    name,
    description: description.meta({ description: 'Description of the folder.' }),
  })
  .meta({ description: 'The new folder. Missing parent folders are created too.' });

/** Location of a folder. Without a path, any path matches. */
const within = {
  environment,
  path: folderPath
    .nullish()
    .meta({ description: 'Path of the parent folder, as a safeguard. Any path matches when absent.' }),
};

/** What may change of a folder: absent keeps, a null description clears. `newPath` moves it. */
const changes = {
  name: name.optional(),
  newPath: folderPath.nullish().meta({
    description: 'Path of the new parent folder in the same environment. The folder is not moved when absent.',
  }),
  description: description.meta({ description: 'Description of the folder; null clears it.' }),
};

/** `onlyIn` of `updateFolder`. */
export const FolderLocation = z.strictObject({ projectId, ...within }).meta({ description: 'Location of a folder.' });

/** `onlyIn` of a change of `updateFolders`. */
export const FolderLocationInProject = z
  .strictObject(within)
  .meta({ description: 'Location of a folder in the project.' });

const ONLY_IN = {
  description: 'Where the folder must be: a folder elsewhere is not found. Any location matches when absent.',
};

/** Input of `updateFolder`. */
export const UpdateFolder = z
  .strictObject({ id, onlyIn: FolderLocation.nullish().meta(ONLY_IN), ...changes })
  .meta({ description: 'The folder, by ID, and its new fields. Absent fields keep their values.' });

/** A change of `updateFolders`. */
export const FolderChange = z
  .strictObject({ id, onlyIn: FolderLocationInProject.nullish().meta(ONLY_IN), ...changes })
  .meta({ description: 'Changes of one folder. Absent fields keep their values.' });
export type FolderChange = z.infer<typeof FolderChange>;

/** Input of `updateFolders`: all or nothing, 1 to 1,000, no folder twice. */
export const UpdateFolders = z
  .strictObject({
    projectId,
    folders: z.array(FolderChange).min(1).max(MAX_BATCH).meta({
      description: 'The changes: 1 to 1,000, each folder at most once. Paths refer to the state before the change.',
    }),
  })
  .meta({ description: 'The project and the changes of its folders.' });

/** A change of a folder as the REST routes have it: the location is required. */
export const UpdateFolderBody = z.strictObject({ ...within, ...changes, projectId });

/** Changes of many folders as the REST route has them. */
export const UpdateFoldersBody = z.strictObject({
  projectId,
  folders: z
    .array(z.strictObject({ ...within, ...changes, id: z.string() }))
    .min(1)
    .max(MAX_BATCH)
    .meta({
      description: 'The changes: 1 to 1,000, each folder at most once. Paths refer to the state before the change.',
    }),
});

const forceDelete = z
  .boolean()
  .default(false)
  .meta({ description: 'Whether to delete the folder with all secrets and folders in it.' });

/** Input of `deleteFolder`. */
export const DeleteFolder = z.strictObject({ id, forceDelete }).meta({ description: 'The folder to delete, by ID.' });

/** Input of `deleteFolderByName`. */
export const DeleteFolderByName = z
  .strictObject({
    projectId,
    environment,
    path,
    name: z.string().min(1).max(255).meta({
      description:
        'Name of the folder in the parent folder at `path`. If the environment has a folder with this text as its ID, that folder is deleted instead.',
    }),
    forceDelete,
  })
  .meta({ description: 'The folder to delete, by name.' });

/** Arguments of `folder`. */
export const GetFolder = z.strictObject({ id });

/** Arguments of `folderByPath`. */
export const FolderByPath = z.strictObject({
  projectId,
  environment,
  path: folderPath.meta({ description: 'Path of the folder, for example `/payments/eu`.' }),
});

/** Arguments of `folders`. */
export const ListFolders = z.strictObject({
  projectId,
  environment,
  path,
  recursive: z.boolean().default(false).meta({ description: 'Whether to include all folders below, at any depth.' }),
  lastSecretModified: z.date().nullish().meta({
    description:
      'Only folders in which a secret was written, moved in or deleted at or after this time, for example `2026-01-31T12:00:00.000Z`.',
  }),
  ...pageRules,
});

/** Arguments of `Folder.folders`. */
export const FolderPage = z.strictObject(pageRules);

/** Arguments of `Environment.folders`. */
export const FolderPageAt = FolderPage.extend({ path });

/** Arguments of `folderTree`. */
export const FolderTree = z.strictObject({
  projectId,
  environment,
  path: path.meta({ description: 'Path of the folder at the top of the tree, for example `/payments`.' }),
});
