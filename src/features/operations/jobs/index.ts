import './jobs.errors.js';
import type { Feature } from '../../../feature.js';
import { nodeKind } from '../../../kernel/graphql/node.js';
import type { JobKind } from '../../../kernel/jobs/job-kind.js';
import type { ProjectRelations } from '../../projects/public.js';
import { JobKindResolver, JobResolver, jobRoutes } from './job.resolver.js';
import { auditOfRead, JobKindService, JobService, jobsByIds } from './job.service.js';

/**
 * What operators see and do of background jobs. The jobs themselves are the kernel's.
 *
 * @param kinds all that this version of the service knows
 */
export const createJobOperations = ({
  relations,
  kinds,
}: {
  readonly relations: ProjectRelations;
  readonly kinds: readonly JobKind[];
}): Feature => ({
  entities: [],
  resolvers: [new JobResolver(new JobService(kinds), relations), new JobKindResolver(new JobKindService(kinds))],
  nodes: [
    nodeKind({
      type: 'Job',
      table: 'job',
      reach: `(n.organization_id = $2 or n.organization_id is null and exists (
        select from identity a where a.id = $4 and a.is_installation_admin))`,
      load: jobsByIds,
      record: auditOfRead,
    }),
  ],
  routes: jobRoutes,
  groups: [
    {
      name: 'jobs',
      permission: { subject: 'jobs', nouns: /^(Jobs?)$/ },
      title: 'Background jobs',
      description: 'Background jobs of the service: their state and attempts, and how to retry, cancel or pause them.',
      paths: /^\/api\/v1\/job(s|-kinds)\b/,
      parameters: { jobId: 'ID of the job.' },
    },
  ],
});
