import './secrets.errors.js';
import type { Feature } from '../../feature.js';
import type { RateLimits } from '../../kernel/operations/limits/rate-limits.js';
import type { Group } from '../../rest/openapi/groups.js';
import type { ProjectReader, ProjectRelations } from '../projects/public.js';
import { SecretBatchResolver } from './across/batch.resolver.js';
import { BatchService } from './across/batch.service.js';
import { SECRET_ENTITIES } from './entities/tables.js';
import { EnvironmentFoldersResolver, FolderResolver, FolderTreeResolver } from './folders/folder.resolver.js';
import { folderRoutes } from './folders/folder.routes.js';
import { FolderService } from './folders/folder.service.js';
import { FolderReadingService } from './folders/folder-reading.service.js';
import { EnvironmentImportsResolver, FolderImportsResolver, ImportResolver } from './folders/import.resolver.js';
import { importRoutes } from './folders/import.routes.js';
import { ImportService } from './folders/import.service.js';
import { compatibilityRoutes } from './older.routes.js';
import { SecretResolver, secretRoutes } from './reading/secret.resolver.js';
import { SecretListingService } from './reading/secret-listing.service.js';
import { SecretReadingService } from './reading/secret-reading.service.js';
import { EnvironmentSecretsResolver, FolderSecretsResolver } from './relations/nested-listing.resolver.js';
import { NestedListingService } from './relations/nested-listing.service.js';
import { SecretRelations, secretNodes, secretRelations } from './relations/relation.resolver.js';
import { RestoreResolver, restoreRoutes } from './restoring/restore.resolver.js';
import { RestoreService } from './restoring/restore.service.js';
import { StateRestoreService } from './restoring/restore-state.service.js';
import { ComparisonService } from './search/comparison.service.js';
import { DuplicatesService } from './search/duplicates.service.js';
import { SecretSearchResolver } from './search/search.resolver.js';
import { SecretSearchService } from './search/search.service.js';
import { UsageService } from './search/usage.service.js';
import { VALUE_DIGESTS_JOB } from './search/value-digests.job.js';
import { ValueSearchResolver, valueSearchRoutes } from './search/value-search.resolver.js';
import { ValueSearchService } from './search/value-search.service.js';
import { SecretTransferResolver, transferRoutes } from './transfer/transfer.resolver.js';
import { SecretTransferService } from './transfer/transfer.service.js';
import { SecretVersionsResolver, VersionResolver, versionRoutes } from './versions/version.resolver.js';
import { VersionService } from './versions/version.service.js';
import { versionChanges } from './versions/version-changes.resolver.js';
import { VersionChangesService } from './versions/version-changes.service.js';
import { PersonalSecretService } from './writing/personal.service.js';
import { SecretService } from './writing/secret.service.js';
import { SecretMovingService } from './writing/secret-moving.service.js';
import { SecretWritingResolver } from './writing/secret-writing.resolver.js';
import { secretWritingRoutes } from './writing/secret-writing.routes.js';

/** Groups of the API reference. */
const groups: readonly Group[] = [
  {
    name: 'folders',
    permission: { subject: 'secret-folders', nouns: /^(Folders?)$/ },
    title: 'Folders',
    description: 'Folders organize the secrets of an environment.',
    paths: /^\/api\/v\d\/folders\b/,
  },
  {
    name: 'secrets',
    title: 'Secrets',
    description:
      'Create, read, update and delete secrets, one by one and in batches; read their versions; import and export files.',
    paths: /^\/api\/v\d\/secrets\b/,
    parameters: { secretName: 'Key of the secret, for example `DB_PASSWORD`.' },
  },
  {
    name: 'secret-imports',
    permission: { subject: 'secret-imports', nouns: /^(SecretImports?)$/ },
    title: 'Secret imports',
    description: 'Imports make the secrets of one folder available in another.',
    paths: /^\/api\/v\d\/secret-imports\b/,
    parameters: { secretImportId: 'ID of the import.' },
  },
];

/** Secrets with their folders and imports. */
export function createSecrets({
  projects,
  relations,
  rateLimits,
}: {
  projects: ProjectReader;
  relations: ProjectRelations;
  rateLimits: RateLimits;
}): Feature {
  const listing = new SecretListingService(projects);
  const reading = new SecretReadingService(projects);
  const nested = new NestedListingService();
  const own = new SecretRelations(relations);
  const folders = new FolderReadingService(projects);
  const imports = new ImportService(projects);
  const versions = new VersionService(projects);
  const secrets = new SecretService(projects, new PersonalSecretService(projects));
  return {
    groups,
    entities: SECRET_ENTITIES,
    resolvers: [
      new SecretResolver(listing, reading),
      new SecretWritingResolver(secrets, reading, new SecretMovingService(projects)),
      new SecretBatchResolver(new BatchService(projects, rateLimits)),
      new SecretTransferResolver(new SecretTransferService(projects, secrets, listing)),
      new EnvironmentSecretsResolver(nested),
      new FolderSecretsResolver(nested),
      ...secretRelations(relations, own),
      new FolderResolver(new FolderService(projects), folders),
      new EnvironmentFoldersResolver(folders),
      new FolderTreeResolver(folders),
      new ImportResolver(imports),
      new EnvironmentImportsResolver(imports),
      new FolderImportsResolver(imports),
      new VersionResolver(versions),
      new SecretVersionsResolver(versions),
      ...versionChanges(new VersionChangesService(projects)),
      new RestoreResolver(new RestoreService(projects), new StateRestoreService(projects)),
      new ValueSearchResolver(new ValueSearchService(projects, rateLimits)),
      new SecretSearchResolver(
        new SecretSearchService(projects),
        new DuplicatesService(projects),
        new ComparisonService(projects),
        new UsageService(projects),
      ),
    ],
    jobs: [VALUE_DIGESTS_JOB],
    nodes: secretNodes(own),
    routes: [
      ...secretRoutes,
      ...secretWritingRoutes,
      ...transferRoutes,
      ...folderRoutes,
      ...importRoutes,
      ...compatibilityRoutes,
      ...versionRoutes,
      ...restoreRoutes,
      ...valueSearchRoutes,
    ],
  };
}
