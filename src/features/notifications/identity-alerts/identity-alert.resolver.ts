import { FieldResolver, Int, Resolver, Root } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { AppError, withPaths } from '../../../kernel/errors.js';
import { mutation, nested, query } from '../../../kernel/graphql/operations.js';
import { type CountedConnectionOf, counted } from '../../../kernel/paging.js';
import { IdentityType } from '../../identity/identities/public.js';
import { fromInput, inInput } from '../alerts/public.js';
import { RETRIED_PAYLOAD, type RetriedCount, UndeliveredMessagesType, undeliveredOf } from '../deliveries/public.js';
import type { AlertView } from './identity-alert.queries.js';
import { ANYWHERE, ListAlerts, OneAlert, RetryMessages } from './identity-alert.rules.js';
import type { IdentityAlertService } from './identity-alert.service.js';
import { IdentityAlertConnection, IdentityAlertType, toIdentityAlert } from './identity-alert.type.js';

@Resolver(() => IdentityAlertType)
export class IdentityAlertResolver {
  constructor(private readonly service: IdentityAlertService) {}

  @query(
    IdentityAlertConnection,
    ListAlerts,
    'Alerts of the expiry of credentials of machine identities, newest first: those of a project, or of the organization itself.',
  )
  async identityAlerts(ctx: Context, args: object): Promise<CountedConnectionOf<IdentityAlertType>> {
    const page = await this.service.list(ctx, args);
    return counted(page.show(toIdentityAlert), page.totalCount);
  }

  @query(IdentityAlertType, OneAlert, 'One alert of the expiry of credentials of a machine identity.')
  async identityAlert(ctx: Context, args: object): Promise<IdentityAlertType> {
    return toIdentityAlert(await this.service.get(ctx, args));
  }

  @mutation(
    ANYWHERE.create,
    { identityAlert: [IdentityAlertType, 'The created alert.'] },
    'Creates an alert that notifies before credentials of a machine identity expire. Needs the rights to read and edit the identity.',
  )
  async createIdentityAlert(ctx: Context, input: object): Promise<{ identityAlert: IdentityAlertType }> {
    return { identityAlert: await shown(input, (given) => this.service.create(ctx, given)) };
  }

  @mutation(
    ANYWHERE.update,
    { identityAlert: [IdentityAlertType, 'The updated alert.'] },
    'Changes an alert of a machine identity. Needs the rights to read and edit the identity.',
  )
  async updateIdentityAlert(ctx: Context, input: object): Promise<{ identityAlert: IdentityAlertType }> {
    return { identityAlert: await shown(input, (given) => this.service.update(ctx, given)) };
  }

  @mutation(
    OneAlert,
    { identityAlert: [IdentityAlertType, 'The deleted alert.'] },
    'Deletes an alert of a machine identity. Needs the rights to read and edit the identity.',
  )
  async deleteIdentityAlert(ctx: Context, input: object): Promise<{ identityAlert: IdentityAlertType }> {
    return { identityAlert: toIdentityAlert(await this.service.delete(ctx, input)) };
  }

  @mutation(
    RetryMessages,
    RETRIED_PAYLOAD,
    'Retries failed and cancelled messages of an alert of a machine identity. Needs the rights to read and edit the identity.',
  )
  async retryIdentityAlertMessages(ctx: Context, input: object): Promise<{ retried: RetriedCount }> {
    return { retried: await this.service.retryMessages(ctx, input) };
  }
}

/** What a change leaves; the paths of violations are those of GraphQL. */
async function shown(input: object, change: (given: object) => Promise<AlertView>): Promise<IdentityAlertType> {
  try {
    return toIdentityAlert(await change(fromInput(input)));
  } catch (error) {
    throw error instanceof AppError && error.code === 'VALIDATION_FAILED' ? withPaths(error, inInput(input)) : error;
  }
}

@Resolver(() => IdentityAlertConnection)
export class IdentityAlertCountResolver {
  /** Compiled documents call no function that they find in a field. */
  @FieldResolver(() => Int)
  totalCount(@Root() page: CountedConnectionOf<IdentityAlertType>): Promise<number> {
    return page.totalCount();
  }
}

@Resolver(() => IdentityType)
export class IdentityAlertsOfIdentityResolver {
  constructor(private readonly service: IdentityAlertService) {}

  @nested([IdentityAlertType], 'Alerts of the expiry of its credentials that you may read, newest first.')
  async alerts({ id }: IdentityType, ctx: Context): Promise<readonly IdentityAlertType[]> {
    return (await this.service.listOfIdentity(ctx, id)).map(toIdentityAlert);
  }
}

@Resolver(() => IdentityAlertType)
export class UndeliveredResolver {
  @nested(UndeliveredMessagesType, 'Messages about credentials that nobody was notified of. Null if there are none.')
  undelivered({ id }: IdentityAlertType, ctx: Context): Promise<UndeliveredMessagesType | null> {
    return undeliveredOf(ctx, id);
  }
}
