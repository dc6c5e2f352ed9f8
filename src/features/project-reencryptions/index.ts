import './project-reencryptions.errors.js';
import type { Feature } from '../../feature.js';
import type { SealedTable } from '../../kernel/crypto/sealed-table.js';
import { nodeInProject, type ProjectLinks, type ProjectReader, projectLinkOf } from '../projects/public.js';
import { ProjectReencryption } from './project-reencryption.entity.js';
import { findReencryptions } from './project-reencryption.queries.js';
import { ReencryptionResolver } from './project-reencryption.resolver.js';
import { reencryptionRoutes } from './project-reencryption.routes.js';
import { ReencryptionService, readOf } from './project-reencryption.service.js';
import { ReencryptionType } from './project-reencryption.type.js';
import { reencryptJob } from './reencrypt-job.js';

/** Re-encryptions of projects. @param tables all that have columns sealed with keys of projects */
export function createProjectReencryptions(
  { projects, links }: { readonly projects: ProjectReader; readonly links: ProjectLinks },
  tables: readonly SealedTable[],
): Feature {
  const job = reencryptJob(tables);
  return {
    entities: [ProjectReencryption],
    resolvers: [
      new ReencryptionResolver(new ReencryptionService(projects, job)),
      new (projectLinkOf(ReencryptionType))(links),
    ],
    nodes: [
      nodeInProject(links, {
        type: 'ProjectReencryption',
        table: 'project_reencryption',
        action: 'workspace:edit',
        find: findReencryptions,
        record: readOf,
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
