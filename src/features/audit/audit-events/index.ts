import './audit-events.errors.js';
import type { Feature } from '../../../feature.js';
import type { Retention } from '../../../kernel/audit/retention.js';
import { mapFound } from '../../../kernel/database/batched.js';
import { APPEND_ONLY } from '../../../kernel/database/service-role.js';
import { nodeKind } from '../../../kernel/graphql/node.js';
import { NO_ID } from '../../../kernel/ids.js';
import { organizationRelationOf } from '../../identity/organizations/public.js';
import { type ProjectReader, type ProjectRelations, projectRelationOf } from '../../projects/public.js';
import { ChangesService } from './changes.service.js';
import { AuditCheckpoint } from './checkpoints/checkpoint.entity.js';
import { AuditCheckpointType, CheckpointResolver, checkpointRoutes } from './checkpoints/checkpoint.resolver.js';
import {
  auditOfRead,
  CHECKPOINT_JOB,
  CheckpointService,
  checkpointsByIds,
  toCheckpoint,
} from './checkpoints/checkpoint.service.js';
import {
  AuditEventResolver,
  ChangesResolver,
  eventRelations,
  eventRoutes,
  IdentityLoginsResolver,
  SecretReadsResolver,
} from './event.resolver.js';
import { EventService, EventsAboutService } from './event.service.js';
import { AuditEventType, ProjectChangesType } from './event.type.js';
import { ExportService, exportOf } from './export.service.js';
import { platformRoutes } from './platform.routes.js';
import { preparePartitions, retentionJobs } from './retention/retention-jobs.js';
import { AuditVerification } from './verification/verification.entity.js';
import {
  toVerification,
  VerificationResolver,
  VerificationType,
  verificationRoutes,
} from './verification/verification.resolver.js';
import {
  auditOfRead as auditOfVerificationRead,
  VerificationService,
  verificationsByIds,
} from './verification/verification.service.js';
import { VERIFICATION_JOB } from './verification/verification-job.js';

/** Reading the audit trail. The trail itself is the kernel's. */
export function createAuditEvents(deps: {
  readonly projects: ProjectReader;
  readonly relations: ProjectRelations;
  readonly auditRetention: Retention;
}): Feature {
  const about = new EventsAboutService(deps.projects);
  return {
    entities: [AuditCheckpoint, AuditVerification],
    tableRights: { audit_checkpoint: APPEND_ONLY },
    jobs: [...retentionJobs(deps.auditRetention), CHECKPOINT_JOB, VERIFICATION_JOB],
    // Before the service listens: records that end have their partitions.
    prepare: (contextOf) => preparePartitions(deps.auditRetention)(contextOf(NO_ID)),
    nodes: [
      nodeKind({
        type: 'AuditCheckpoint',
        table: 'audit_checkpoint',
        reach: 'n.organization_id = $2',
        load: async (ctx, ids) => mapFound(await checkpointsByIds(ctx, ids), toCheckpoint),
        record: auditOfRead,
      }),
      nodeKind({
        type: 'AuditTrailVerification',
        table: 'audit_verification',
        reach: `n.organization_id = $2 and exists (select from identity a where a.id = $4 and a.is_installation_admin)`,
        load: async (ctx, ids) => mapFound(await verificationsByIds(ctx, ids), toVerification),
        record: auditOfVerificationRead,
      }),
    ],
    resolvers: [
      new CheckpointResolver(new CheckpointService()),
      organizationRelationOf(AuditCheckpointType),
      new VerificationResolver(new VerificationService()),
      organizationRelationOf(VerificationType),
      new AuditEventResolver(new EventService(deps.projects)),
      eventRelations(deps.relations),
      organizationRelationOf(AuditEventType),
      projectRelationOf(ProjectChangesType, deps.relations),
      new ChangesResolver(new ChangesService(deps.projects)),
      new SecretReadsResolver(about),
      new IdentityLoginsResolver(about),
    ],
    documents: [exportOf(new ExportService(deps.projects))],
    routes: [...eventRoutes, ...platformRoutes, ...checkpointRoutes, ...verificationRoutes],
    groups: [
      {
        name: 'audit-events',
        permission: {
          subject: 'audit-logs',
          nouns: /^(AuditEvents?|AuditCheckpoints|AuditTrail|AuditTrailVerifications?|ProjectChanges)$/,
        },
        title: 'Audit trail',
        description: 'Who did what and when: changes, values that were read, and denied requests.',
        parameters: { verificationId: 'ID of the verification.' },
        paths: /\/audit-(events|checkpoints|trail-verifications|logs)\b|\/changes$/,
      },
    ],
  };
}
