import './identity-alerts.errors.js';
import type { Feature } from '../../../feature.js';
import { mapFound } from '../../../kernel/database/batched.js';
import { nodeKind } from '../../../kernel/graphql/node.js';
import { type IdentityReader, identityRelationOf } from '../../identity/identities/public.js';
import { organizationRelationOf } from '../../identity/organizations/public.js';
import {
  type ProjectReader,
  type ProjectRelations,
  projectRelationOf,
  REACH_OF_MEMBER,
} from '../../projects/public.js';
import { sendJob } from '../deliveries/public.js';
import type { Notifier } from '../sending/public.js';
import { AlertAccess } from './alert-access.js';
import { CREDENTIAL_SOURCE } from './credential-source.js';
import { CHECK_ALERTS, FIND_DUE_ALERTS } from './due.service.js';
import { IdentityAlert, IdentityAlertChannel } from './identity-alert.entity.js';
import { findAlertViews } from './identity-alert.queries.js';
import {
  IdentityAlertResolver,
  IdentityAlertsOfIdentityResolver,
  IdentityAlertType,
  toIdentityAlert,
  UndeliveredResolver,
} from './identity-alert.resolver.js';
import { identityAlertRoutes } from './identity-alert.routes.js';
import { rulesFor } from './identity-alert.rules.js';
import { auditOfRead, IdentityAlertService } from './identity-alert.service.js';

/**
 * Alerts of the expiry of credentials of machine identities.
 *
 * @param deps `allowPrivateTargets`: webhooks may go to this machine and to private networks
 */
export function createIdentityAlerts(deps: {
  readonly projects: ProjectReader;
  readonly relations: ProjectRelations;
  readonly identities: IdentityReader;
  readonly notifier: Notifier;
  readonly allowPrivateTargets: boolean;
}): Feature {
  const rules = rulesFor(deps);
  const access = new AlertAccess(deps.projects, deps.identities);
  const alerts = new IdentityAlertService(access, rules);
  return {
    entities: [IdentityAlert, IdentityAlertChannel],
    resolvers: [
      new IdentityAlertResolver(alerts),
      new IdentityAlertsOfIdentityResolver(alerts),
      new UndeliveredResolver(),
      organizationRelationOf(IdentityAlertType),
      projectRelationOf(IdentityAlertType, deps.relations),
      identityRelationOf(IdentityAlertType),
    ],
    nodes: [
      nodeKind({
        type: 'IdentityAlert',
        table: 'identity_alert',
        reach: `(n.project_id is null and n.organization_id = $2 or ${REACH_OF_MEMBER})`,
        load: async (ctx, ids) => mapFound(await access.readable(ctx, await findAlertViews(ctx, ids)), toIdentityAlert),
        record: auditOfRead,
      }),
    ],
    routes: identityAlertRoutes(rules),
    jobs: [FIND_DUE_ALERTS, CHECK_ALERTS, sendJob(CREDENTIAL_SOURCE, deps.notifier)],
    groups: [
      {
        name: 'identity-alerts',
        title: 'Alerts of identities',
        description: 'Who is notified before client secrets and access tokens of machine identities expire, and how.',
        paths: /^\/api\/v1\/alerts\b/,
        parameters: { alertId: 'ID of the alert.' },
      },
    ],
  };
}
