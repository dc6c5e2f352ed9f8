import * as z from 'zod';
import { orderRules } from '../../../kernel/list-order.js';
import type { TargetPolicy } from '../../../kernel/outbound/http.js';
import { pageRules } from '../../../kernel/paging.js';
import { EVEN_IF_INVALID } from '../../../kernel/validation.js';
import { expectedVersion, idOf, personText, slugText } from '../../../kernel/value-rules.js';
import { type AnyKind, APPS, type App, KINDS } from './kinds.js';

/** States of the credentials of a connection. */
const CHECK_STATES = ['unchecked', 'working', 'failing'] as const;
export type CheckState = (typeof CHECK_STATES)[number];

export const app = z.enum(APPS).meta({ description: 'App of the connection.' });
const onlyApp = app.nullish().meta({ description: 'App that the connection must be of; otherwise it is not found.' });
const id = idOf('connection');
const name = slugText(1, 64).meta({
  description:
    'Name of the connection, 1 to 64 characters: lower-case words separated by hyphens. Unique in the project, or among connections of the organization itself.',
});
const description = personText(0, 256)
  .nullish()
  .meta({ description: 'Description of the connection, up to 256 characters; null for none.' });

/** All credentials of a kind, as given. */
const credentialsOf = ({ publicRules, secretRules }: AnyKind) =>
  z.strictObject({ ...publicRules.shape, ...secretRules.shape });

const inChange = (kind: AnyKind) =>
  z.strictObject(
    Object.fromEntries(
      Object.entries(credentialsOf(kind).shape as Record<string, z.ZodType>).map(([field, rule]) => [
        field,
        rule.optional().meta({ description: rule.description ?? '' }),
      ]),
    ),
  );

type RawCredentials = Readonly<Record<string, unknown>>;

/** Reports a target that must not be called, by its name alone. Other fields may be missing or invalid. */
const withTarget = (rules: z.ZodObject, kind: AnyKind, policy: TargetPolicy): z.ZodObject =>
  rules.superRefine((given: RawCredentials, issues) => {
    const { [kind.targetField]: target } = given;
    const violation = typeof target === 'string' ? kind.targetViolation(given, policy) : null;
    if (violation === null) return;
    const { message, code } = violation;
    issues.addIssue({ code: 'custom', path: [kind.targetField], message, params: { code } });
  }, EVEN_IF_INVALID);

/** Credentials wrapped in their app, exactly one: `{ datatool: { instanceUrl, accountId, apiToken } }`. */
function choiceOf(rulesOf: (kind: AnyKind) => z.ZodObject, about: string) {
  const shape = Object.fromEntries(
    KINDS.map((kind) => [
      kind.app,
      rulesOf(kind)
        .optional()
        .meta({ description: `Credentials for the app ${kind.app}.` }),
    ]),
  ) as Record<App, z.ZodOptional<z.ZodObject>>;
  return z
    .strictObject(shape)
    .superRefine((given: RawCredentials, issues) => {
      if (Object.values(given).filter((credentials) => credentials !== undefined).length !== 1)
        issues.addIssue({ code: 'custom', message: 'must have exactly one app', params: { code: 'NOT_ONE' } });
    }, EVEN_IF_INVALID)
    .meta({ description: about });
}

/** Inputs that create and update connections. */
function connectionRules(policy: TargetPolicy) {
  const given = (kind: AnyKind) =>
    withTarget(credentialsOf(kind), kind, policy).meta({
      description: `Credentials of a connection of the app ${kind.app}.`,
    });
  const changed = (kind: AnyKind) =>
    withTarget(inChange(kind), kind, policy).meta({
      description: `Credentials of a connection of the app ${kind.app} to change. Absent fields keep their value; if \`${kind.targetField}\` changes, the secrets are required.`,
    });
  return {
    create: z
      .strictObject({
        projectId: idOf(
          'ID of the project that the connection is for. Absent or null: the whole organization.',
        ).nullish(),
        name,
        description,
        credentials: choiceOf(given, 'Credentials of the connection. Set exactly one field, which decides the app.'),
      })
      .meta({ description: 'Fields of the new app connection.' }),
    update: z
      .strictObject({
        id,
        app: onlyApp,
        projectId: idOf('ID of the project of the connection. It cannot change: any other value is refused.').nullish(),
        expectedVersion,
        name: name.optional(),
        description,
        credentials: choiceOf(
          changed,
          'Credentials to change. Set exactly one field, that of the app of the connection.',
        ).optional(),
      })
      .meta({ description: 'Fields of the app connection to change. Absent fields keep their value.' }),
  };
}
export type ConnectionRules = ReturnType<typeof connectionRules>;

/** Rules that allow any host; the GraphQL schema is made of them. */
export const ANYWHERE = connectionRules({ allowPrivateTargets: true });
const PUBLIC_ONLY = connectionRules({ allowPrivateTargets: false });

/** The rules of an installation. They accept the same fields and differ only in the hosts that they refuse. */
export const rulesFor = ({ allowPrivateTargets }: TargetPolicy): ConnectionRules =>
  allowPrivateTargets ? ANYWHERE : PUBLIC_ONLY;

export const OneConnection = z.strictObject({ id, app: onlyApp }).meta({ description: 'The app connection, by ID.' });

export const ConnectionByName = z.strictObject({
  app,
  name: z.string().meta({ description: 'Name of the connection.' }),
  projectId: idOf(
    'ID of the project of the connection. Absent or null: a connection of the organization itself.',
  ).nullish(),
});

/** Arguments of `appConnections`. */
export const ListConnections = z.strictObject({
  projectId: idOf(
    'ID of a project: only its connections. Absent or null: those of the organization and all its projects.',
  ).nullish(),
  app: app.nullish().meta({ description: 'Only connections of this app.' }),
  ...pageRules,
  ...orderRules,
});

/** Arguments of `usableAppConnections`. */
export const ListUsable = z.strictObject({
  projectId: idOf(
    'ID of a project whose connections to include. Absent or null: only those of the organization.',
  ).nullish(),
  app: app.nullish().meta({ description: 'Only connections of this app.' }),
  ...pageRules,
});

/** Arguments of `datatoolProjects`. */
export const ListProjects = z.strictObject({
  connectionId: idOf('connection'),
  ...pageRules,
});
