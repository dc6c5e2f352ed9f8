import './organization-keys.errors.js';
import type { Feature } from '../../../feature.js';
import { nodeKind } from '../../../kernel/graphql/node.js';
import { organizationRelationOf } from '../../identity/organizations/public.js';
import type { ProjectReader } from '../../projects/public.js';
import { OrganizationKeyResolver, OrganizationKeyType, organizationKeyRoutes } from './organization-key.resolver.js';
import { auditOfRead, OrganizationKeyService } from './organization-key.service.js';

/** Keys of organizations, which encrypt the keys of projects. */
export function createOrganizationKeys(deps: { readonly projects: ProjectReader }): Feature {
  const service = new OrganizationKeyService(deps.projects);
  return {
    entities: [],
    resolvers: [new OrganizationKeyResolver(service), organizationRelationOf(OrganizationKeyType)],
    nodes: [
      nodeKind({
        type: 'OrganizationKey',
        table: 'organization_key',
        reach: 'n.organization_id = $2',
        load: service.byIds,
        record: auditOfRead,
      }),
    ],
    routes: organizationKeyRoutes,
    groups: [
      {
        name: 'organization-keys',
        permission: { subject: 'kms', nouns: /^OrganizationKeys?$/ },
        title: 'Organization keys',
        description: 'Keys of your organization, which encrypt the keys of its projects.',
        paths: /\/organization\/keys\b|\/projects\/\{projectId\}\/key$/,
        parameters: { keyId: 'The key.' },
      },
    ],
  };
}
