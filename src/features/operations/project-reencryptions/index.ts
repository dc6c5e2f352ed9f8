import './project-reencryptions.errors.js';
import type { Feature } from '../../../feature.js';
import type { SealedTable } from '../../../kernel/crypto/sealed-table.js';
import { nodeInProject, type ProjectReader, type ProjectRelations, projectRelationOf } from '../../projects/public.js';
import { ProjectReencryption } from './project-reencryption.entity.js';
import { ReencryptionResolver, ReencryptionType, reencryptionRoutes } from './project-reencryption.resolver.js';
import { auditOfRead, ReencryptionService } from './project-reencryption.service.js';
import { findReencryptions } from './project-reencryption.sql.js';
import { reencryptJob } from './reencrypt-job.js';

/** Re-encryptions of projects. @param tables all that have columns sealed with keys of projects */
export function createProjectReencryptions(
  { projects, relations }: { readonly projects: ProjectReader; readonly relations: ProjectRelations },
  tables: readonly SealedTable[],
): Feature {
  const job = reencryptJob(tables);
  return {
    entities: [ProjectReencryption],
    resolvers: [
      new ReencryptionResolver(new ReencryptionService(projects, job)),
      projectRelationOf(ReencryptionType, relations),
    ],
    nodes: [
      nodeInProject(relations, {
        type: 'ProjectReencryption',
        table: 'project_reencryption',
        action: 'workspace:edit',
        find: findReencryptions,
        record: auditOfRead,
      }),
    ],
    routes: reencryptionRoutes,
    jobs: [job],
    groups: [
      {
        name: 're-encryptions',
        title: 'Re-encryptions',
        description: 'New keys of projects, with which all their values are encrypted while they are in use.',
        paths: /\/re-encryptions\b/,
        parameters: { reencryptionId: 'The re-encryption.' },
      },
    ],
  };
}
