import { Resolver } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { argsType } from '../../../kernel/graphql/inputs.js';
import { mutation, nested, query } from '../../../kernel/graphql/operations.js';
import { type CountedConnectionOf, counted } from '../../../kernel/paging.js';
import { ProjectType } from '../../projects/public.js';
import { AlertPage, ANYWHERE, ListAlerts, OneAlert } from './alert.rules.js';
import type { AlertService, ListedAlerts } from './alert.service.js';
import { AlertConnection, AlertType, toAlertType } from './alert.type.js';
import { withInput } from './channel.type.js';

type Alerts = CountedConnectionOf<AlertType>;

@Resolver(() => AlertType)
export class AlertResolver {
  constructor(private readonly service: AlertService) {}

  @query(AlertConnection, ListAlerts, 'Certificate alerts of a project, newest first.')
  async certificateAlerts(ctx: Context, args: object): Promise<Alerts> {
    return shown(await this.service.list(ctx, args));
  }

  @query(AlertType, OneAlert, 'A certificate alert, by ID.')
  async certificateAlert(ctx: Context, args: object): Promise<AlertType> {
    return toAlertType(await this.service.get(ctx, args));
  }

  @mutation(
    ANYWHERE.create,
    { certificateAlert: [AlertType, 'The created alert.'] },
    'Creates a certificate alert in a project of type `cert-manager`.',
  )
  async createCertificateAlert(ctx: Context, input: object): Promise<{ certificateAlert: AlertType }> {
    return { certificateAlert: toAlertType(await withInput(input, (given) => this.service.create(ctx, given))) };
  }

  @mutation(
    ANYWHERE.update,
    { certificateAlert: [AlertType, 'The updated alert.'] },
    'Updates a certificate alert, or enables or disables it.',
  )
  async updateCertificateAlert(ctx: Context, input: object): Promise<{ certificateAlert: AlertType }> {
    return { certificateAlert: toAlertType(await withInput(input, (given) => this.service.update(ctx, given))) };
  }

  @mutation(OneAlert, { certificateAlert: [AlertType, 'The deleted alert.'] }, 'Deletes a certificate alert.')
  async deleteCertificateAlert(ctx: Context, input: object): Promise<{ certificateAlert: AlertType }> {
    return { certificateAlert: toAlertType(await this.service.delete(ctx, input)) };
  }
}

const shown = (page: ListedAlerts): Alerts => counted(page.show(toAlertType), page.totalCount);

const AlertPageArgs = argsType(AlertPage);

@Resolver(() => ProjectType)
export class ProjectAlertsResolver {
  constructor(private readonly service: AlertService) {}

  @nested(
    [AlertType],
    'Certificate alerts of the project, newest first. Null, with PERMISSION_DENIED, if you cannot read them.',
  )
  async certificateAlerts({ access }: ProjectType, ctx: Context): Promise<readonly AlertType[]> {
    return (await this.service.listInProject(ctx, access)).map(toAlertType);
  }

  @nested(AlertConnection, 'Certificate alerts of the project, newest first, in pages.', AlertPageArgs)
  async certificateAlertConnection({ access }: ProjectType, ctx: Context, page: object): Promise<Alerts> {
    return shown(await this.service.pageInProject(ctx, access, page));
  }
}
