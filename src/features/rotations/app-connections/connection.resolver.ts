import { Ctx, FieldResolver, Int, Query, Resolver, Root } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { type BatchLoad, batched } from '../../../kernel/database/batched.js';
import { mutation, nested, query } from '../../../kernel/graphql/operations.js';
import { type CountedConnectionOf, counted, type Page } from '../../../kernel/paging.js';
import type { ProjectReader } from '../../projects/public.js';
import { ANYWHERE, ConnectionByName, ListConnections, ListUsable, OneConnection } from './connection.rules.js';
import type { ConnectionService } from './connection.service.js';
import {
  AppConnectionKindType,
  AppConnectionUseType,
  ConnectedAppConnection,
  ConnectedAppType,
  toConnectedApp,
} from './connection.type.js';
import { type ConnectionUse, type ConnectionUses, readableUses } from './connection-uses.js';
import { KINDS } from './kinds.js';

type Counted<T> = Page<T> & { readonly totalCount: () => Promise<number> };

const shown = <R extends object, T extends object>(page: Counted<R>, change: (row: R) => T): CountedConnectionOf<T> =>
  counted(page.show(change), page.totalCount);

@Resolver(() => ConnectedAppType)
export class ConnectionResolver {
  constructor(private readonly service: ConnectionService) {}

  @query(
    ConnectedAppConnection,
    ListConnections,
    'App connections that you can read, by name: of a project, or of the organization and all its projects.',
  )
  async appConnections(ctx: Context, args: object): Promise<CountedConnectionOf<ConnectedAppType>> {
    return shown(await this.service.list(ctx, args), toConnectedApp);
  }

  @query(
    ConnectedAppConnection,
    ListUsable,
    'App connections that you can use, by name: of the organization and of a project.',
  )
  async usableAppConnections(ctx: Context, args: object): Promise<CountedConnectionOf<ConnectedAppType>> {
    return shown(await this.service.listUsable(ctx, args), toConnectedApp);
  }

  @query(ConnectedAppType, OneConnection, 'An app connection, by ID.')
  async appConnection(ctx: Context, args: object): Promise<ConnectedAppType> {
    return toConnectedApp(await this.service.get(ctx, args));
  }

  @query(ConnectedAppType, ConnectionByName, 'An app connection, by name.')
  async appConnectionByName(ctx: Context, args: object): Promise<ConnectedAppType> {
    return toConnectedApp(await this.service.getByName(ctx, args));
  }

  @Query(() => [AppConnectionKindType], { description: 'Apps that connections can be created for.' })
  appConnectionKinds(@Ctx() ctx: Context): Promise<readonly AppConnectionKindType[]> {
    return this.service.listKinds(ctx, () =>
      KINDS.map(({ app, title, method }) => ({ app, title, methods: [method] })),
    );
  }

  @mutation(
    ANYWHERE.create,
    { appConnection: [ConnectedAppType, 'The created app connection.'] },
    'Creates an app connection. The external system must accept its credentials.',
  )
  async createAppConnection(ctx: Context, input: object): Promise<{ appConnection: ConnectedAppType }> {
    return { appConnection: toConnectedApp(await this.service.create(ctx, input)) };
  }

  @mutation(
    ANYWHERE.update,
    { appConnection: [ConnectedAppType, 'The updated app connection.'] },
    'Updates an app connection. The external system must accept new credentials.',
  )
  async updateAppConnection(ctx: Context, input: object): Promise<{ appConnection: ConnectedAppType }> {
    return { appConnection: toConnectedApp(await this.service.update(ctx, input)) };
  }

  @mutation(
    OneConnection,
    { appConnection: [ConnectedAppType, 'The deleted app connection.'] },
    'Deletes an app connection that no rotation uses.',
  )
  async deleteAppConnection(ctx: Context, input: object): Promise<{ appConnection: ConnectedAppType }> {
    return { appConnection: toConnectedApp(await this.service.delete(ctx, input)) };
  }

  @mutation(
    OneConnection,
    { appConnection: [ConnectedAppType, 'The app connection, with the result of the check.'] },
    'Checks whether the external system still accepts the credentials. Requires `connect` on `app-connections`.',
  )
  async checkAppConnection(ctx: Context, input: object): Promise<{ appConnection: ConnectedAppType }> {
    return { appConnection: toConnectedApp(await this.service.check(ctx, input)) };
  }
}

@Resolver(() => ConnectedAppConnection)
export class ConnectionCountResolver {
  /** Compiled documents do not call functions found in fields, so the count needs a resolver. */
  @FieldResolver(() => Int)
  totalCount(@Root() page: CountedConnectionOf<ConnectedAppType>): Promise<number> {
    return page.totalCount();
  }
}

@Resolver(() => ConnectedAppType)
export class ConnectionUsesResolver {
  constructor(
    private readonly projects: ProjectReader,
    private readonly usesOf: ConnectionUses,
  ) {}

  @nested([AppConnectionUseType], 'Rotations that use the connection. Only those that you can read.')
  async usedBy({ id }: ConnectedAppType, ctx: Context): Promise<readonly AppConnectionUseType[]> {
    const uses = (await batched(ctx, this.#load, id)) ?? [];
    return uses.map(({ type: rotationType, connectionId: _, ...use }) => ({ ...use, rotationType }));
  }

  readonly #load: BatchLoad<readonly ConnectionUse[]> = async (ctx, ids) => {
    const uses = await readableUses(ctx, this.projects, await this.usesOf(ctx, { connectionIds: ids }));
    return Map.groupBy(uses, ({ connectionId }) => connectionId);
  };
}
