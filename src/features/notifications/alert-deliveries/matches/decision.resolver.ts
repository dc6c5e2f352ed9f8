import { Resolver } from 'type-graphql';
import type { Context } from '../../../../kernel/context.js';
import { nested, query } from '../../../../kernel/graphql/operations.js';
import type { ConnectionOf } from '../../../../kernel/paging.js';
import { CertificateType } from '../../../certificates/public.js';
import { AlertType, toAlertType } from '../../alerts/public.js';
import type { CertificateAlerts } from './certificate-alerts.js';
import type { DecisionService } from './decision.service.js';
import { DecisionConnection, DecisionType } from './decision.type.js';
import { ListDecisions } from './match.rules.js';

@Resolver(() => DecisionType)
export class DecisionResolver {
  constructor(private readonly service: DecisionService) {}

  @query(
    DecisionConnection,
    ListDecisions,
    'What each alert of the project has done or will do about a certificate: when it notified whom, or why it did not.',
  )
  async alertDecisions(ctx: Context, args: object): Promise<ConnectionOf<DecisionType>> {
    const page = await this.service.list(ctx, args);
    return page.show(({ alert, ...decision }) => ({ ...decision, alert: toAlertType(alert) }));
  }
}

/** Alerts of a certificate. */
@Resolver(() => CertificateType)
export class CertificateAlertsResolver {
  constructor(private readonly service: CertificateAlerts) {}

  @nested(
    [AlertType],
    'Alerts of the project whose filters match the certificate, newest first. Null, with PERMISSION_DENIED, if you cannot read alerts.',
  )
  async alerts(certificate: CertificateType, ctx: Context): Promise<readonly AlertType[]> {
    return (await this.service.of(ctx, certificate)).map(toAlertType);
  }
}
