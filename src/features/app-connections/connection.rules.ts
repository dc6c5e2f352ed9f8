import { z } from 'zod';
import { orderRules } from '../../kernel/list-order.js';
import type { TargetPolicy } from '../../kernel/outbound/http.js';
import { pageRules } from '../../kernel/paging.js';
import { idOf, personText, slugText } from '../../kernel/text-rules.js';
import { EVEN_IF_FAULTY } from '../../kernel/validation.js';
import { expectedVersion } from '../../kernel/version.js';
import { type AnyKind, APPS, type App, KINDS } from './kinds.js';

/** What is known of the credentials of a connection. */
export const CHECK_STATES = ['unchecked', 'working', 'failing'] as const;
export type CheckState = (typeof CHECK_STATES)[number];

export const app = z.enum(APPS).meta({ description: 'Which app it is.' });
const onlyApp = app.nullish().meta({ description: 'Of which app it is; of another one it is not found.' });
const id = idOf('connection');
const name = slugText(1, 64).meta({
  description:
    'Lower-case words joined by hyphens, 1 to 64 characters, unique in the project, or else among those of the organization itself.',
});
const description = personText(0, 256)
  .nullish()
  .meta({ description: 'What it is for, up to 256 characters; null for nothing.' });

/** All credentials of a kind, as they are given. */
export const credentialsOf = ({ publicRules, secretRules }: AnyKind) =>
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

type Given = Readonly<Record<string, unknown>>;

/** Reports a target that may not be called, by its text alone. Other fields may be missing, or break their rules. */
const withTarget = (rules: z.ZodObject, kind: AnyKind, policy: TargetPolicy): z.ZodObject =>
  rules.superRefine((given: Given, issues) => {
    const { [kind.targetField]: target } = given;
    const fault = typeof target === 'string' ? kind.targetFault(given, policy) : null;
    if (fault === null) return;
    const { message, code } = fault;
    issues.addIssue({ code: 'custom', path: [kind.targetField], message, params: { code } });
  }, EVEN_IF_FAULTY);

/** Credentials named by their app, exactly one: `{ datatool: { instanceUrl, accountId, apiToken } }`. */
function choiceOf(rulesOf: (kind: AnyKind) => z.ZodObject, about: string) {
  const shape = Object.fromEntries(
    KINDS.map((kind) => [
      kind.app,
      rulesOf(kind)
        .optional()
        .meta({ description: `Of the app ${kind.app}.` }),
    ]),
  ) as Record<App, z.ZodOptional<z.ZodObject>>;
  return z
    .strictObject(shape)
    .superRefine((given: Given, issues) => {
      if (Object.values(given).filter((credentials) => credentials !== undefined).length !== 1)
        issues.addIssue({ code: 'custom', message: 'must have exactly one app', params: { code: 'NOT_ONE' } });
    }, EVEN_IF_FAULTY)
    .meta({ description: about });
}

/** Inputs of new and changed connections. */
function connectionRules(policy: TargetPolicy) {
  const given = (kind: AnyKind) =>
    withTarget(credentialsOf(kind), kind, policy).meta({
      description: `Credentials of a connection of the app ${kind.app}.`,
    });
  const changed = (kind: AnyKind) =>
    withTarget(inChange(kind), kind, policy).meta({
      description: `Changes of the credentials of a connection of the app ${kind.app}. What is absent stays; another address needs the secrets again.`,
    });
  return {
    create: z
      .strictObject({
        projectId: idOf('The project that it is for; absent or null: all of the organization.').nullish(),
        name,
        description,
        credentials: choiceOf(given, 'The credentials, by their app: exactly one.'),
      })
      .meta({ description: 'A new connection.' }),
    update: z
      .strictObject({
        id,
        app: onlyApp,
        projectId: idOf('The project that it is for, which cannot change.').nullish(),
        expectedVersion,
        name: name.optional(),
        description,
        credentials: choiceOf(changed, 'Changes of the credentials, by their app: exactly one.').optional(),
      })
      .meta({ description: 'Changes of a connection. What is absent stays.' }),
  };
}
export type ConnectionRules = ReturnType<typeof connectionRules>;

/** Rules with which any host may be called: those that the schema is made of. */
export const ANYWHERE = connectionRules({ allowPrivateTargets: true });
const PUBLIC_ONLY = connectionRules({ allowPrivateTargets: false });

/** The rules of an installation. They differ in what they refuse, and not in what they take. */
export const rulesFor = ({ allowPrivateTargets }: TargetPolicy): ConnectionRules =>
  allowPrivateTargets ? ANYWHERE : PUBLIC_ONLY;

export const OneConnection = z.strictObject({ id, app: onlyApp }).meta({ description: 'Which connection.' });

export const ConnectionByName = z.strictObject({
  app,
  name: z.string().meta({ description: 'Its name.' }),
  projectId: idOf('The project that it is for; absent or null: that of the organization.').nullish(),
});

/** Arguments of `appConnections`. */
export const ListConnections = z.strictObject({
  projectId: idOf('Only those of this project; absent or null: all of the organization and of its projects.').nullish(),
  app: app.nullish().meta({ description: 'Only those of this app.' }),
  ...pageRules,
  ...orderRules,
});

/** Arguments of `usableAppConnections`. */
export const ListUsable = z.strictObject({
  projectId: idOf('Also those of this project; absent or null: only those of the organization.').nullish(),
  app: app.nullish().meta({ description: 'Only those of this app.' }),
  ...pageRules,
});
