import { pageRules } from '../../../kernel/paging.js';
import { ListSecrets } from '../reading/secret-reading.rules.js';
import { folderPath, place } from '../scope/place.rules.js';

/** Arguments of the list of one environment, where the location is known. */
export const ListInEnvironment = ListSecrets.omit({
  projectId: true,
  environment: true,
  includeImports: true,
  ownValues: true,
}).extend({
  first: pageRules.first.meta({
    description: 'Maximum number of items to return, 1 to 1,000. Without it all items are returned.',
  }),
  after: pageRules.after.meta({ description: 'Only items after this cursor, a value of `pageInfo.endCursor`.' }),
});

/** Arguments of the list of one folder, where the folder is known. */
export const ListInFolder = ListInEnvironment.omit({ secretPath: true, recursive: true });

const page = { first: true, after: true, orderBy: true, updatedSince: true } as const;

/** Arguments of `Folder.secrets`, which has no pages. */
export const FolderSecrets = ListInFolder.omit(page);

/** Arguments of `Environment.secretConnection`, which calls the path as other fields of environments do. */
export const EnvironmentSecretPage = ListInEnvironment.omit({ secretPath: true }).extend({ path: place.secretPath });

/** Arguments of `Environment.secrets`, beside the older `secretPath`. */
export const EnvironmentSecrets = EnvironmentSecretPage.omit(page).extend({
  path: folderPath.nullish().meta({
    description: 'Path of the folder, for example `/` or `/payments/eu`; `/` when absent.',
  }),
});
