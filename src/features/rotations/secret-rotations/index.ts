import './secret-rotations.errors.js';
import type { Feature } from '../../../feature.js';
import type { TargetPolicy } from '../../../kernel/outbound/http.js';
import { type ProjectReader, type ProjectRelations, projectRelationOf } from '../../projects/public.js';
import type { ConnectionReader } from '../app-connections/public.js';
import { attemptRoutes, debtRoutes } from './debt.routes.js';
import { DebtService } from './debt.service.js';
import { debtJob } from './debts/debt-job.js';
import { accountJobs } from './engine/account-jobs.js';
import { rotationJobs } from './engine/rotate-job.js';
import { Kinds } from './kinds/kinds.js';
import { ManyRotationsResolver } from './many-rotations.resolver.js';
import { ManyRotationsService } from './many-rotations.service.js';
import { passwordRules } from './password-rules/password-rules.js';
import { RotatingService } from './rotating.service.js';
import { rotationNodes } from './rotation.nodes.js';
import {
  DebtResolver,
  ProjectRotationsResolver,
  RotationCountResolver,
  RotationReadingResolver,
  RotationResolver,
} from './rotation.resolver.js';
import { rotationRoutes } from './rotation.routes.js';
import { RotationService } from './rotation.service.js';
import { SecretRotationType } from './rotation.type.js';
import { RotationDeletionService } from './rotation-deletion.service.js';
import { RotationReadingService } from './rotation-reading.service.js';
import { SecretValidityResolver } from './secret-validity.resolver.js';
import { SecretRotationAttempt } from './store/attempt.entity.js';
import { SecretRotationCredential } from './store/credential.entity.js';
import { CredentialDebt } from './store/debt.entity.js';
import { SecretRotation } from './store/rotation.entity.js';

/**
 * Rotations of credentials in external systems.
 *
 * @param deps `policy`: which external systems may be called
 */
export function createSecretRotations(deps: {
  readonly projects: ProjectReader;
  readonly relations: ProjectRelations;
  readonly connections: ConnectionReader;
  readonly policy: TargetPolicy;
}): Feature {
  const { projects, connections, policy } = deps;
  const kinds = new Kinds(policy);
  const making = new RotationService(projects, connections, kinds);
  const reading = new RotationReadingService(projects, kinds);
  const rules = passwordRules();
  return {
    entities: [SecretRotation, SecretRotationCredential, SecretRotationAttempt, CredentialDebt, ...rules.entities],
    resolvers: [
      new ManyRotationsResolver(making, new ManyRotationsService(projects), reading),
      new RotationReadingResolver(reading),
      new DebtResolver(new DebtService(projects, kinds)),
      new RotationResolver(making, new RotatingService(projects, kinds), new RotationDeletionService(projects, kinds)),
      new RotationCountResolver(),
      new SecretValidityResolver(kinds),
      new ProjectRotationsResolver(reading),
      new (projectRelationOf(SecretRotationType))(deps.relations),
      ...rules.resolvers,
    ],
    nodes: [...rotationNodes(deps.relations), ...rules.nodes],
    jobs: [...rotationJobs(kinds), ...accountJobs(kinds), debtJob(kinds)],
    routes: [...rotationRoutes(), ...debtRoutes, ...attemptRoutes],
    groups: [
      {
        name: 'secret-rotations',
        title: 'Secret rotations',
        description: 'Credentials in external systems that are replaced, and the secrets that hold them.',
        paths: /^\/api\/v2\/secret-rotations\b/,
        parameters: { rotationId: 'The rotation.', attemptId: 'The attempt to rotate.' },
      },
    ],
  };
}
