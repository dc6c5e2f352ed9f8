import './secret-rotations.errors.js';
import type { Feature } from '../../../feature.js';
import { authorize } from '../../../kernel/authz/ability.js';
import { mapFound } from '../../../kernel/database/batched.js';
import { type NodeKind, nodeKind } from '../../../kernel/graphql/node.js';
import type { TargetPolicy } from '../../../kernel/outbound/http.js';
import { organizationRelationOf } from '../../identity/organizations/public.js';
import {
  type ProjectReader,
  type ProjectRelations,
  projectRelationOf,
  REACH_OF_MEMBER,
} from '../../projects/public.js';
import type { ConnectionReader } from '../app-connections/public.js';
import { accountJobs, rotationJobs } from './engine/rotation-jobs.js';
import { typePrefixOf } from './kind/rotation-kind.js';
import { Kinds, ROTATION_TYPES } from './kinds/kinds.js';
import { ManyRotationsResolver } from './many-rotations.resolver.js';
import { ManyRotationsService } from './many-rotations.service.js';
import { PasswordRule } from './password-rules/password-rule.entity.js';
import { PasswordRuleResolver } from './password-rules/password-rule.resolver.js';
import { PasswordRuleService, auditOfRead as readOfPasswordRule } from './password-rules/password-rule.service.js';
import { PasswordRuleType } from './password-rules/password-rule.type.js';
import { PendingRevocationService } from './pending-revocation.service.js';
import { revocationJob } from './revocations/revocations.js';
import { RotatingService } from './rotating.service.js';
import {
  PendingRevocationResolver,
  ProjectRotationsResolver,
  RotationReadingResolver,
  RotationResolver,
  SecretValidityResolver,
} from './rotation.resolver.js';
import { attemptRoutes, pendingRevocationRoutes, rotationRoutes } from './rotation.routes.js';
import { RotationService } from './rotation.service.js';
import { SecretRotationType, toRotationType } from './rotation.type.js';
import { fieldsOf, withMessages } from './rotation-access.js';
import { RotationDeletionService } from './rotation-deletion.service.js';
import { auditOfRead, RotationReadingService } from './rotation-reading.service.js';
import { SecretRotationAttempt } from './store/attempt.entity.js';
import { SecretRotationCredential } from './store/credential.entity.js';
import { PendingRevocation } from './store/pending-revocation.entity.js';
import { SecretRotation } from './store/rotation.entity.js';
import { findRotationViews } from './store/rotation.sql.js';

/** One node type per type of rotations, all stored in one table. */
const rotationNodes = (relations: ProjectRelations): NodeKind[] =>
  ROTATION_TYPES.map((type) =>
    nodeKind<SecretRotationType>({
      type: `${typePrefixOf(type)}Rotation`,
      table: 'secret_rotation',
      reach: `n.type = '${type}' and ${REACH_OF_MEMBER}`,
      load: async (ctx, ids) => {
        const rows = await withMessages(ctx, await findRotationViews(ctx, { ids }));
        const found = await relations.readable(ctx, rows, (row, access) => {
          authorize(access, 'secret-rotation:read', fieldsOf(row));
          return row;
        });
        return mapFound(found, toRotationType);
      },
      record: auditOfRead,
    }),
  );

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
  const rules = new PasswordRuleService();
  return {
    entities: [SecretRotation, SecretRotationCredential, SecretRotationAttempt, PendingRevocation, PasswordRule],
    resolvers: [
      new ManyRotationsResolver(making, new ManyRotationsService(projects), reading),
      new RotationReadingResolver(reading),
      new PendingRevocationResolver(new PendingRevocationService(projects, kinds)),
      new RotationResolver(
        making,
        reading,
        new RotatingService(projects, kinds),
        new RotationDeletionService(projects, kinds),
      ),
      new SecretValidityResolver(kinds),
      new ProjectRotationsResolver(reading),
      projectRelationOf(SecretRotationType, deps.relations),
      new PasswordRuleResolver(rules),
      organizationRelationOf(PasswordRuleType),
    ],
    nodes: [
      ...rotationNodes(deps.relations),
      nodeKind({
        type: 'PasswordRule',
        table: 'password_rule',
        reach: 'n.organization_id = $2',
        load: rules.byIds,
        record: readOfPasswordRule,
      }),
    ],
    jobs: [...rotationJobs(kinds), ...accountJobs(kinds), revocationJob(kinds)],
    routes: [...rotationRoutes(), ...pendingRevocationRoutes, ...attemptRoutes],
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
