import { Resolver } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { nested, query } from '../../../kernel/graphql/operations.js';
import type { ConnectionOf } from '../../../kernel/paging.js';
import { AlertType, toAlertType } from '../../alerts/public.js';
import { CertificateType } from '../../certificates/public.js';
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
    'What each alert of its project has made of a certificate, or will: when and whom it notified, or why not.',
  )
  async alertDecisions(ctx: Context, args: object): Promise<ConnectionOf<DecisionType>> {
    const page = await this.service.list(ctx, args);
    return page.show(({ alert, ...decision }) => ({ ...decision, alert: toAlertType(alert) }));
  }
}

/** What certificates show of alerts. */
@Resolver(() => CertificateType)
export class CertificateAlertsResolver {
  constructor(private readonly service: CertificateAlerts) {}

  @nested(
    [AlertType],
    'The alerts of its project whose filters it passes, newest first; null with PERMISSION_DENIED if you may not read alerts.',
  )
  async alerts(certificate: CertificateType, ctx: Context): Promise<readonly AlertType[]> {
    return (await this.service.of(ctx, certificate)).map(toAlertType);
  }
}
