import type { Feature } from '../../../feature.js';
import { APPEND_ONLY } from '../../../kernel/database/service-role.js';
import type { ProjectReader, ProjectRelations } from '../../projects/public.js';
import { AccessHistory } from './access-history.entity.js';
import {
  AccessReviewResolver,
  accessHolderRelations,
  RuleOriginResolver,
  SecretReadersResolver,
} from './access-review.resolver.js';
import { AccessReviewService } from './access-review.service.js';
import {
  OrganizationAccessResolver,
  OrganizationRuleOriginResolver,
  ruleOriginRelations,
} from './organization-access.resolver.js';
import { OrganizationAccessService } from './organization-access.service.js';

/** Who may do what, and who could. */
export function createAccessReview({
  projects,
  relations,
}: {
  readonly projects: ProjectReader;
  readonly relations: ProjectRelations;
}): Feature {
  const service = new AccessReviewService(projects);
  return {
    entities: [AccessHistory],
    tableRights: { access_history: [...APPEND_ONLY, 'update (valid_to)'] },
    resolvers: [
      new AccessReviewResolver(service),
      new SecretReadersResolver(service, relations),
      accessHolderRelations(),
      new RuleOriginResolver(relations),
      new OrganizationAccessResolver(new OrganizationAccessService()),
      new OrganizationRuleOriginResolver(),
      ruleOriginRelations(),
    ],
    routes: [],
  };
}
