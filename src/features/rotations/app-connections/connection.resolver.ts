import { type ClassType, Ctx, Extensions, Field, ID, Int, InterfaceType, Query, Resolver } from 'type-graphql';
import * as z from 'zod';
import type { Context } from '../../../kernel/context.js';
import { type BatchLoad, batched } from '../../../kernel/database/batched.js';
import { creation } from '../../../kernel/graphql/creation.js';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { enumType } from '../../../kernel/graphql/enums.js';
import { inputType } from '../../../kernel/graphql/inputs.js';
import { Node } from '../../../kernel/graphql/node.js';
import { type Fields, objectType, orNull } from '../../../kernel/graphql/object-types.js';
import { mutation, nested, query } from '../../../kernel/graphql/operations.js';
import { connectionOf } from '../../../kernel/graphql/page.js';
import { ONE_OF } from '../../../kernel/graphql/schema.js';
import { capitalized } from '../../../kernel/names.js';
import { type CountedConnectionOf, counted } from '../../../kernel/paging.js';
import type { ProjectReader } from '../../projects/public.js';
import {
  ANYWHERE,
  app,
  type CheckState,
  ConnectionByName,
  ListConnections,
  ListUsable,
  OneConnection,
} from './connection.rules.js';
import type { ConnectionService, ListedConnections } from './connection.service.js';
import type { ConnectionRow } from './connection.sql.js';
import { type ConnectionUse, readableUses } from './connection-uses.js';
import { type AnyKind, type App, KINDS } from './kinds.js';

const AppEnum = enumType(
  'ConnectableApp',
  'Apps (external systems) that can be connected.',
  Object.fromEntries(KINDS.map(({ app: name, description }) => [name, description])),
  app,
);

const CheckStateEnum = enumType<CheckState>('ConnectionCheckState', 'States of the credentials of a connection.', {
  unchecked: 'The credentials were not checked yet.',
  working: 'The external system accepts the credentials, or was unreachable in fewer than three checks in a row.',
  failing: 'The external system rejects the credentials, or was unreachable in three checks in a row.',
});

/** What is known of an external system that does not respond. */
const UnresponsiveTargetType = objectType(
  'UnresponsiveTarget',
  'An external system that does not respond, and is left alone for pauses that grow to an hour.',
  {
    since: [DateTime, 'Since when no call had a response.'],
    failures: [Int, 'How often it was tried since then. Calls at the same time count as one.'],
    code: [String, 'Error code of the last try, for example `TARGET_TIMED_OUT`.'],
    nextTryAt: [
      DateTime,
      'When it is next tried by itself: a time in the past if that is under way or about to begin.',
    ],
  },
);
type UnresponsiveTargetType = InstanceType<typeof UnresponsiveTargetType>;

/** A connection as the API shows it. */
@InterfaceType('ConnectedApp', {
  implements: Node,
  description: 'Credentials for an external system, of an organization or a project. Secrets are never returned.',
})
export class ConnectedAppType extends Node {
  @Field(() => ID, { description: 'ID of the organization.' })
  organizationId!: string;

  @Field(() => ID, {
    nullable: true,
    description: 'ID of the project that the connection is for. Null: the whole organization.',
  })
  projectId!: string | null;

  @Field(() => AppEnum, { description: 'App of the connection.' })
  app!: App;

  @Field(() => String, { description: 'Authentication method, for example `api-token`.' })
  method!: string;

  @Field(() => String, {
    description: 'Name of the connection, unique in the project, or among connections of the organization itself.',
  })
  name!: string;

  @Field(() => String, { nullable: true, description: 'Description of the connection. Null if it has none.' })
  description!: string | null;

  @Field(() => Int, { description: 'Version of the connection. Increments with every change.' })
  version!: number;

  @Field(() => String, {
    description:
      'Keyed hash of all credentials in hexadecimal, for example `2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae`. It changes only when the credentials change.',
  })
  credentialsHash!: string;

  @Field(() => CheckStateEnum, {
    description: 'Whether the external system accepts the credentials, by the last check.',
  })
  checkState!: CheckState;

  @Field(() => String, {
    nullable: true,
    description: 'Error code of the last check, for example `CREDENTIALS_REJECTED`. Null if it succeeded.',
  })
  checkCode!: string | null;

  @Field(() => DateTime, {
    nullable: true,
    description: 'When the credentials were last checked. Null if they were not.',
  })
  checkedAt!: Date | null;

  @Field(() => DateTime, { nullable: true, description: 'Since when the connection is failing. Null if it is not.' })
  failingSince!: Date | null;

  @Field(() => UnresponsiveTargetType, {
    nullable: true,
    description:
      'That the external system does not respond, to this or another connection of the organization that calls it: rotations, revocations and checks leave it alone for a while. A manual rotation, or a check of the connection, tries it at once; any response ends it. Null if it responds.',
  })
  unresponsive!: UnresponsiveTargetType | null;

  @Field(() => DateTime, { description: 'When the connection was created.' })
  createdAt!: Date;

  @Field(() => DateTime, { description: 'When the connection was last changed.' })
  updatedAt!: Date;
}

/** Name of the GraphQL type of connections of an app. */
export const typeNameOf = (name: string): string => `${capitalized(name)}ConnectedApp`;

/** The GraphQL type of public credentials of a kind, made from its rules. */
const credentialsTypeOf = ({ app: name, publicRules }: AnyKind): ClassType =>
  objectType(
    `${capitalized(name)}Credentials`,
    `Public part of the credentials of a connection of the app ${name}.`,
    Object.fromEntries(
      Object.entries(publicRules.shape as Record<string, z.ZodType>).map(([field, rule]): [string, Fields[string]] => {
        const type = z.toJSONSchema(rule, { io: 'output' }).type === 'integer' ? Int : String;
        return [field, [rule.safeParse(null).success ? orNull(type) : type, rule.description ?? field]];
      }),
    ),
  );

/** The GraphQL type of connections of a kind. */
const connectedTypeOf = (kind: AnyKind): ClassType<ConnectedAppType> =>
  objectType(
    typeNameOf(kind.app),
    `A connection of the app ${kind.app}.`,
    { credentials: [credentialsTypeOf(kind), 'Public part of the credentials.'] },
    { implements: ConnectedAppType },
  );

/** The GraphQL types of connections, by app. */
const TYPES: ReadonlyMap<string, ClassType<ConnectedAppType>> = new Map(
  KINDS.map((kind) => [kind.app, connectedTypeOf(kind)]),
);

/** Converts a connection to its GraphQL type. The class decides the type. */
export function toConnectedApp({ publicPart, unresponsive: known, ...row }: ConnectionRow): ConnectedAppType {
  const { credentialsSealed: _, credentialsVersion: __, checkFailures: ___, target: ____, ...shown } = row;
  const type = TYPES.get(row.app);
  if (type === undefined) throw new Error('unknown kind of connections');
  const unresponsive = known && { ...known, since: new Date(known.since), nextTryAt: new Date(known.nextTryAt) };
  return Object.assign(new type(), { ...shown, unresponsive, credentials: publicPart });
}

export const ConnectedAppConnection = connectionOf(ConnectedAppType, 'ConnectedApp', 'name, then ID', 'app connection');

/** A kind of connections. */
const AppConnectionKindType = objectType('AppConnectionKind', 'An app that connections can be created for.', {
  app: [AppEnum, 'Name of the app in the API.'],
  title: [String, 'Display name of the app.'],
  methods: [[String], 'Supported authentication methods, for example `api-token`.'],
});
type AppConnectionKindType = InstanceType<typeof AppConnectionKindType>;

export const AppConnectionUseType = objectType('AppConnectionUse', 'A rotation that uses a connection.', {
  rotationId: [ID, 'ID of the rotation.'],
  rotationName: [String, 'Name of the rotation.'],
  rotationType: [String, 'Type of the rotation, for example `datatool-service-token`.'],
  projectId: [ID, 'ID of the project of the rotated secrets.'],
  environment: [String, 'Slug of the environment of the rotated secrets.'],
  path: [String, 'Path of the folder of the rotated secrets.'],
});
export type AppConnectionUseType = InstanceType<typeof AppConnectionUseType>;

const { create, update } = ANYWHERE;
for (const [name, { shape }] of [
  ['Credentials', create.shape.credentials],
  ['CredentialsChange', update.shape.credentials.unwrap()],
] as const)
  for (const kind of KINDS) inputType(`${capitalized(kind.app)}${name}Input`, shape[kind.app].unwrap());
Extensions(ONE_OF)(inputType('ConnectionCredentialsInput', create.shape.credentials));
Extensions(ONE_OF)(inputType('ConnectionCredentialsChangeInput', update.shape.credentials.unwrap()));

const shown = (page: ListedConnections): CountedConnectionOf<ConnectedAppType> =>
  counted(page.show(toConnectedApp), page.totalCount);

/** What can be shown of the credentials of an input, as a connection has it. */
function publicPartOf(credentials: Readonly<Record<string, object | undefined>>): object {
  const kind = KINDS.find(({ app: name }) => credentials[name] !== undefined) as AnyKind;
  const shown = Object.entries(credentials[kind.app] ?? {}).filter(([field]) => field in kind.publicRules.shape);
  return { app: kind.app, credentials: Object.fromEntries(shown) };
}

@Resolver(() => ConnectedAppType)
export class ConnectionResolver {
  constructor(private readonly service: ConnectionService) {}

  @query(
    ConnectedAppConnection,
    ListConnections,
    'App connections that you can read, by name: of a project, or of the organization and all its projects.',
  )
  async appConnections(ctx: Context, args: object): Promise<CountedConnectionOf<ConnectedAppType>> {
    return shown(await this.service.list(ctx, args));
  }

  @query(
    ConnectedAppConnection,
    ListUsable,
    'App connections that you can use, by name: of the organization and of a project.',
  )
  async usableAppConnections(ctx: Context, args: object): Promise<CountedConnectionOf<ConnectedAppType>> {
    return shown(await this.service.listUsable(ctx, args));
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

  @creation(
    ANYWHERE.create,
    { appConnection: [ConnectedAppType, 'The created app connection.'] },
    'Creates an app connection. The external system must accept its credentials.',
    {
      find: (connections: ConnectionResolver, ctx, { name, projectId, credentials }) =>
        connections.appConnectionByName(ctx, {
          name,
          projectId,
          app: Object.keys(credentials).find((app) => credentials[app as App] !== undefined),
        }),
      taken: 'APP_CONNECTION_NAME_TAKEN',
      compare: { credentials: { of: (connection) => connection, as: publicPartOf } },
    },
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

@Resolver(() => ConnectedAppType)
export class ConnectionUsesResolver {
  constructor(private readonly projects: ProjectReader) {}

  @nested([AppConnectionUseType], 'Rotations that use the connection. Only those that you can read.')
  async usedBy({ id }: ConnectedAppType, ctx: Context): Promise<readonly AppConnectionUseType[]> {
    const uses = (await batched(ctx, this.#load, id)) ?? [];
    return uses.map(({ type: rotationType, connectionId: _, ...use }) => ({ ...use, rotationType }));
  }

  readonly #load: BatchLoad<readonly ConnectionUse[]> = async (ctx, ids) => {
    const uses = await readableUses(
      ctx,
      this.projects,
      await ctx.providers.listConnectionUses(ctx, { connectionIds: ids }),
    );
    return Map.groupBy(uses, ({ connectionId }) => connectionId);
  };
}
