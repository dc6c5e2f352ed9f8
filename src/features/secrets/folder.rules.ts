import { z } from 'zod';
import { pageRules } from '../../kernel/paging.js';
import { idOf, storedText } from '../../kernel/text-rules.js';
import { folderName, folderPath, place } from './place.rules.js';

const projectId = idOf('project');
const environment = place.environment.meta({ description: 'Slug of the environment, as `prod`.' });
const path = folderPath.default('/');
const id = idOf('folder');
const name = folderName.meta({ description: 'Letters, digits, - and _, as `eu_west-1`, 1 to 255 characters.' });
const MAX_BATCH = 1_000;
const description = storedText(1_024).nullish();

/** Input of `createFolder`. Source: behaviour 10 (Folders). */
export const CreateFolder = z
  .strictObject({
    projectId,
    environment,
    path: path.meta({ description: 'Path of the folder that it goes into, as `/payments`.' }),
    name,
    description: description.meta({ description: 'Up to 1,024 characters.' }),
  })
  .meta({ description: 'What a new folder is. What is missing above it is made too.' });

/** Where a folder is. The path is any when it is not given. */
const within = {
  environment,
  path: folderPath.nullish().meta({ description: 'Path of the folder that it is in, to be sure; any when absent.' }),
};

/** What may change of a folder: absent keeps, a null description clears. It goes into the folder at `newPath`. */
const changes = {
  name: name.optional(),
  newPath: folderPath.nullish().meta({
    description: 'Path of the folder of the same environment that it goes into; stays where it is when absent.',
  }),
  description: description.meta({ description: 'Up to 1,024 characters; null clears it.' }),
};

/** `onlyIn` of `updateFolder`. */
export const FolderLocation = z.strictObject({ projectId, ...within }).meta({ description: 'Where a folder is.' });

/** `onlyIn` of a change of `updateFolders`. */
export const FolderLocationInProject = z
  .strictObject(within)
  .meta({ description: 'Where a folder of the project is.' });

const ONLY_IN = { description: 'Where it must be: elsewhere it is not found. Without this it may be anywhere.' };

/** Input of `updateFolder`. */
export const UpdateFolder = z
  .strictObject({ id, onlyIn: FolderLocation.nullish().meta(ONLY_IN), ...changes })
  .meta({ description: 'What changes of a folder; what is absent stays.' });

/** A change of `updateFolders`. */
export const FolderChange = z
  .strictObject({ id, onlyIn: FolderLocationInProject.nullish().meta(ONLY_IN), ...changes })
  .meta({ description: 'What changes of a folder; what is absent stays.' });
export type FolderChange = z.infer<typeof FolderChange>;

/** Input of `updateFolders`: all or nothing, 1 to 1,000, no folder twice. */
export const UpdateFolders = z
  .strictObject({
    projectId,
    folders: z
      .array(FolderChange)
      .min(1)
      .max(MAX_BATCH)
      .meta({ description: '1 to 1,000 changes, no folder twice. Their paths are those of before.' }),
  })
  .meta({ description: 'What changes of many folders of a project.' });

/** A change of a folder as the REST routes have it: the place is always given. */
export const UpdateFolderBody = z.strictObject({ ...within, ...changes, projectId });

/** Changes of many folders as the REST route has them. */
export const UpdateFoldersBody = z.strictObject({
  projectId,
  folders: z
    .array(z.strictObject({ ...within, ...changes, id: z.string() }))
    .min(1)
    .max(MAX_BATCH)
    .meta({ description: '1 to 1,000 changes, no folder twice. Their paths are those of before.' }),
});

const forceDelete = z.boolean().default(false).meta({ description: 'Delete it with the secrets and folders in it.' });

/** Input of `deleteFolder`. */
export const DeleteFolder = z.strictObject({ id, forceDelete }).meta({ description: 'Which folder is deleted.' });

/** Input of `deleteFolderByName`. */
export const DeleteFolderByName = z
  .strictObject({
    projectId,
    environment,
    path: path.meta({ description: 'Path of the folder that it is in.' }),
    name: z.string().min(1).max(255).meta({
      description:
        'Its name in the folder at `path`. A folder of the environment that has this text as its id comes first.',
    }),
    forceDelete,
  })
  .meta({ description: 'Which folder is deleted.' });

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
