import { groups } from './secrets.groups.js';
import './secrets.errors.js';
import type { Feature } from '../../feature.js';
import type { ProjectLinks, ProjectReader } from '../projects/public.js';
import { SecretBatchResolver } from './across/batch.resolver.js';
import { ReplaceValueService } from './across/replace-value.service.js';
import { UpdateByIdService } from './across/update-by-id.service.js';
import { ComparisonResolver } from './comparison.resolver.js';
import { ComparisonService } from './comparison.service.js';
import { compatibilityRoutes } from './compatibility.routes.js';
import { DuplicatesResolver } from './duplicates.resolver.js';
import { DuplicatesService } from './duplicates.service.js';
import { SECRET_ENTITIES } from './entities.js';
import { EnvironmentFoldersResolver, FolderResolver } from './folder.resolver.js';
import { folderRoutes } from './folder.routes.js';
import { FolderService } from './folder.service.js';
import { FolderReadingService } from './folder-reading.service.js';
import { EnvironmentImportsResolver, FolderImportsResolver, ImportResolver } from './import.resolver.js';
import { importRoutes } from './import.routes.js';
import { ImportService } from './import.service.js';
import { secretLinks } from './links/link.resolver.js';
import { SecretLinks } from './links/secret.links.js';
import { secretNodes } from './links/secret.nodes.js';
import { EnvironmentSecretsResolver, FolderSecretsResolver } from './nested-listing.resolver.js';
import { NestedListingService } from './nested-listing.service.js';
import { PersonalSecretService } from './personal.service.js';
import { RestoreResolver } from './restore.resolver.js';
import { restoreRoutes } from './restore.routes.js';
import { RestoreService } from './restore.service.js';
import { StateRestoreService } from './restore-state.service.js';
import { SecretSearchResolver } from './search.resolver.js';
import { SecretSearchService } from './search.service.js';
import { SecretResolver } from './secret.resolver.js';
import { secretRoutes } from './secret.routes.js';
import { SecretService } from './secret.service.js';
import { SecretListingService } from './secret-listing.service.js';
import { SecretMovingService } from './secret-moving.service.js';
import { SecretReadingService } from './secret-reading.service.js';
import { resealSecrets } from './secret-resealing.js';
import { SecretWritingResolver } from './secret-writing.resolver.js';
import { secretWritingRoutes } from './secret-writing.routes.js';
import { SecretTransferResolver } from './transfer.resolver.js';
import { transferRoutes } from './transfer.routes.js';
import { SecretTransferService } from './transfer.service.js';
import { UsageResolver } from './usage.resolver.js';
import { UsageService } from './usage.service.js';
import { SecretVersionsResolver, VersionResolver } from './version.resolver.js';
import { versionRoutes } from './version.routes.js';
import { VersionService } from './version.service.js';

/** Secrets with their folders and imports. */
export function createSecrets({ projects, links }: { projects: ProjectReader; links: ProjectLinks }): Feature {
  const listing = new SecretListingService(projects);
  const nested = new NestedListingService();
  const own = new SecretLinks(links);
  const folders = new FolderReadingService(projects);
  const imports = new ImportService(projects);
  const versions = new VersionService(projects);
  const secrets = new SecretService(projects, new PersonalSecretService(projects));
  return {
    groups,
    entities: SECRET_ENTITIES,
    resolvers: [
      new SecretResolver(listing, new SecretReadingService(projects)),
      new SecretWritingResolver(secrets, new SecretMovingService(projects)),
      new SecretBatchResolver(new UpdateByIdService(projects), new ReplaceValueService(projects)),
      new SecretTransferResolver(new SecretTransferService(projects, secrets, listing)),
      new EnvironmentSecretsResolver(nested),
      new FolderSecretsResolver(nested),
      ...secretLinks(links, own, folders),
      new FolderResolver(new FolderService(projects), folders),
      new EnvironmentFoldersResolver(folders),
      new ImportResolver(imports),
      new EnvironmentImportsResolver(imports),
      new FolderImportsResolver(imports),
      new VersionResolver(versions),
      new SecretVersionsResolver(versions),
      new RestoreResolver(new RestoreService(projects), new StateRestoreService(projects)),
      new SecretSearchResolver(new SecretSearchService(projects)),
      new UsageResolver(new UsageService(projects)),
      new DuplicatesResolver(new DuplicatesService(projects)),
      new ComparisonResolver(new ComparisonService(projects)),
    ],
    nodes: secretNodes(own),
    upgrade: resealSecrets,
    routes: [
      ...secretRoutes,
      ...secretWritingRoutes,
      ...transferRoutes,
      ...folderRoutes,
      ...importRoutes,
      ...compatibilityRoutes,
      ...versionRoutes,
      ...restoreRoutes,
    ],
  };
}
