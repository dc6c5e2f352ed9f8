import { type ClassType, Extensions, Field, ID, Int, InterfaceType, ObjectType } from 'type-graphql';
import { z } from 'zod';
import { DateTime } from '../../kernel/graphql/date-time.js';
import { enumType } from '../../kernel/graphql/enums.js';
import { inputType } from '../../kernel/graphql/inputs.js';
import { Node } from '../../kernel/graphql/node.js';
import { countedConnectionOf } from '../../kernel/graphql/page.js';
import { ONE_OF } from '../../kernel/graphql/schema.js';
import type { ConnectionRow } from './connection.queries.js';
import { ANYWHERE, app, type CheckState } from './connection.rules.js';
import { type AnyKind, type App, KINDS } from './kinds.js';

const AppEnum = enumType(
  'ConnectableApp',
  'Outside systems that can be connected.',
  Object.fromEntries(KINDS.map(({ app: name, description }) => [name, description])),
  app,
);

const CheckStateEnum = enumType<CheckState>(
  'ConnectionCheckState',
  'What is known of the credentials of a connection.',
  {
    unchecked: 'They were not checked yet.',
    working: 'The outside system accepts them, or was out of reach for fewer than three checks.',
    failing: 'The outside system does not accept them, or was out of reach for three checks in a row.',
  },
);

/** What the API shows of a connection. Source: specification, App connection. */
@InterfaceType('ConnectedApp', {
  implements: Node,
  description:
    'Credentials for an outside system, of an organization or of one of its projects. Secrets are never shown.',
})
export class ConnectedAppType extends Node {
  @Field(() => ID, { description: 'ID of the organization.' })
  organizationId!: string;

  @Field(() => ID, { nullable: true, description: 'The project that it is for; null: all of the organization.' })
  projectId!: string | null;

  @Field(() => AppEnum, { description: 'Which app it is.' })
  app!: App;

  @Field(() => String, { description: 'How it is authenticated, as `api-token`.' })
  method!: string;

  @Field(() => String, {
    description: 'What it is called; unique in the project, or among those of the organization itself.',
  })
  name!: string;

  @Field(() => String, { nullable: true, description: 'What it is for; null if nobody said.' })
  description!: string | null;

  @Field(() => Int, { description: 'Rises with every change.' })
  version!: number;

  @Field(() => String, { description: 'A keyed digest of all credentials: another one only when they are others.' })
  credentialsHash!: string;

  @Field(() => CheckStateEnum, {
    description: 'Whether the outside system accepts the credentials, as far as is known.',
  })
  checkState!: CheckState;

  @Field(() => String, {
    nullable: true,
    description: 'Why the last check failed, as `CREDENTIALS_REJECTED`; null when it did not.',
  })
  checkCode!: string | null;

  @Field(() => DateTime, { nullable: true, description: 'When it was last checked; null if it was not.' })
  checkedAt!: Date | null;

  @Field(() => DateTime, { nullable: true, description: 'Since when it is failing; null when it is not.' })
  failingSince!: Date | null;

  @Field(() => DateTime, { description: 'When it was made.' })
  createdAt!: Date;

  @Field(() => DateTime, { description: 'When it was last changed.' })
  updatedAt!: Date;
}

/** `datatool` -> `Datatool`, in names of types. */
const titled = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);

/** Name of the type of the connections of an app. */
export const typeNameOf = (name: string): string => `${titled(name)}ConnectedApp`;

/** The type of what is shown of the credentials of a kind, made of its rules. */
function credentialsTypeOf({ app: name, title, publicRules }: AnyKind): ClassType {
  const made = { [`${titled(name)}Credentials`]: class {} }[`${titled(name)}Credentials`] as ClassType;
  ObjectType(made.name, { description: `What is shown of credentials for ${title}.`, simpleResolvers: true })(made);
  for (const [field, rule] of Object.entries(publicRules.shape as Record<string, z.ZodType>)) {
    const isNumber = z.toJSONSchema(rule, { io: 'output' }).type === 'integer';
    const options = { nullable: rule.safeParse(null).success, description: rule.description ?? field };
    Field(() => (isNumber ? Int : String), options)(made.prototype as object, field);
  }
  return made;
}

/** The type of the connections of a kind. */
function connectedTypeOf(kind: AnyKind): ClassType<ConnectedAppType> {
  const credentials = credentialsTypeOf(kind);
  const name = typeNameOf(kind.app);
  const made = { [name]: class extends ConnectedAppType {} }[name] as ClassType<ConnectedAppType>;
  const description = `A connection of the app ${kind.app}.`;
  ObjectType(name, { implements: ConnectedAppType, description, simpleResolvers: true })(made);
  Field(() => credentials, { description: 'What is shown of the credentials.' })(
    made.prototype as object,
    'credentials',
  );
  return made;
}

/** The types of connections, by their apps. */
const TYPES: ReadonlyMap<string, ClassType<ConnectedAppType>> = new Map(
  KINDS.map((kind) => [kind.app, connectedTypeOf(kind)]),
);

/** A connection as the API shows it. Its class tells its type. */
export function toConnectedApp({ publicPart, ...row }: ConnectionRow): ConnectedAppType {
  const { credentialsSealed: _, credentialsVersion: __, checkFailures: ___, ...shown } = row;
  const type = TYPES.get(row.app);
  if (type === undefined) throw new Error('there is no such kind of connections');
  return Object.assign(new type(), { ...shown, credentials: publicPart });
}

export const ConnectedAppConnection = countedConnectionOf(ConnectedAppType, 'ConnectedApp', 'name, then ID');

/** What can be connected. */
@ObjectType('AppConnectionKind', {
  description: 'A kind of outside systems that can be connected.',
  simpleResolvers: true,
})
export class AppConnectionKindType {
  @Field(() => AppEnum, { description: 'Which app it is.' })
  app!: App;

  @Field(() => String, { description: 'What people call it.' })
  title!: string;

  @Field(() => [String], { description: 'How it can be authenticated.' })
  methods!: readonly string[];
}

/** A rotation that uses a connection. */
@ObjectType('AppConnectionUse', { description: 'A rotation that uses a connection.', simpleResolvers: true })
export class AppConnectionUseType {
  @Field(() => ID, { description: 'ID of the rotation.' })
  rotationId!: string;

  @Field(() => String, { description: 'What the rotation is called.' })
  rotationName!: string;

  @Field(() => String, { description: 'Type of the rotation, as `datatool-service-token`.' })
  rotationType!: string;

  @Field(() => ID, { description: 'The project whose secrets it changes.' })
  projectId!: string;

  @Field(() => String, { description: 'Slug of the environment.' })
  environment!: string;

  @Field(() => String, { description: 'Path of the folder.' })
  path!: string;
}

const { create, update } = ANYWHERE;
for (const [name, { shape }] of [
  ['Credentials', create.shape.credentials],
  ['CredentialsChange', update.shape.credentials.unwrap()],
] as const)
  for (const kind of KINDS) inputType(`${titled(kind.app)}${name}Input`, shape[kind.app].unwrap());
Extensions(ONE_OF)(inputType('ConnectionCredentialsInput', create.shape.credentials));
Extensions(ONE_OF)(inputType('ConnectionCredentialsChangeInput', update.shape.credentials.unwrap()));
