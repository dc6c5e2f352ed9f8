import { z } from 'zod';
import type { Rule } from '../../kernel/authz/ability.js';
import { integer } from '../../kernel/int.js';
import { orderRulesOf } from '../../kernel/list-order.js';
import { pageRules } from '../../kernel/paging.js';
import { idOf, isStorable, NOT_STORABLE, personText, slugText } from '../../kernel/text-rules.js';
import { EVEN_IF_FAULTY, looseEntries } from '../../kernel/validation.js';
import { expectedVersion } from '../../kernel/version.js';
import { builtInProjectRoles, Permissions, RESERVED_ROLE_SLUGS } from '../permissions/public.js';
import { DEFAULT_TEMPLATE, PROJECT_KINDS } from '../projects/public.js';

/** A role that projects made from a template have, as it is stored. */
export interface TemplateRole {
  readonly name: string;
  readonly slug: string;
  readonly rules: readonly Rule[];
}

/** An environment that they have. */
export interface TemplateEnvironment {
  readonly name: string;
  readonly slug: string;
  readonly position: number;
}

/** Who joins them, by id. */
export interface TemplateMember {
  readonly id: string;
  readonly roles: readonly string[];
}

/** A machine identity that is made for each of them. */
export interface TemplateOwnIdentity {
  readonly name: string;
  readonly roles: readonly string[];
}

/** What a template says of projects, as it is stored. */
export interface TemplateContent {
  readonly name: string;
  readonly description: string;
  readonly roles: readonly TemplateRole[];
  /** By position; null leaves it to whoever makes the project. */
  readonly environments: readonly TemplateEnvironment[] | null;
  readonly users: readonly TemplateMember[];
  readonly groups: readonly TemplateMember[];
  readonly identities: readonly TemplateMember[];
  readonly projectManagedIdentities: readonly TemplateOwnIdentity[];
}

/** A user who joins projects made from a template. */
export interface ShownUser {
  readonly userId: string;
  readonly username: string;
  readonly roles: readonly string[];
}

/** A group that does. */
export interface ShownGroup {
  readonly groupId: string;
  readonly groupSlug: string;
  readonly roles: readonly string[];
}

/** A machine identity of the organization that does. */
export interface ShownIdentity {
  readonly identityId: string;
  readonly identityName: string;
  readonly roles: readonly string[];
}

/** Of the JSON of each list. Source: behaviour 6.1. */
const MAX_BYTES = 32_768;
const MAX_ENTRIES = 1_000;
/** A built-in role that is sent back has each action by itself. */
const MAX_PERMISSIONS = 1_000;
/** As of roles of projects. */
const MAX_RULES = 100;
const MAX_ROLES = 10;

/** In lower case. Source: behaviour 6.1. */
const RESERVED_NAMES: readonly string[] = [
  ...['admin', 'member', 'viewer', 'no access', 'custom'],
  ...builtInProjectRoles().map(({ name }) => name.toLowerCase()),
];

const roleSlugs = z
  .array(slugText(1, 64))
  .min(1)
  .max(MAX_ROLES)
  .refine((slugs) => new Set(slugs).size === slugs.length, { ...EVEN_IF_FAULTY, error: 'must name each role once' })
  .meta({ description: 'Slugs of 1 to 10 roles, each once: built-in ones and those of the template.' });

const name64 = personText(1, 64);
const lowerText = (max: number) => z.string().trim().toLowerCase().min(1).max(max).refine(isStorable, NOT_STORABLE);

export const permission = Permissions.element;

export const GivenRole = z
  .strictObject({
    name: name64.meta({ description: 'What people call it, 1 to 64 characters, unique in the template.' }),
    slug: slugText(1, 64).meta({
      description: 'Lower-case words joined by hyphens, as `web-shop`, 1 to 64 characters, unique in the template.',
    }),
    permissions: z
      .array(permission)
      .max(MAX_PERMISSIONS)
      .meta({ description: 'Up to 100 rules, in order: later ones win.' }),
  })
  .meta({ description: 'A role that projects made from the template have.' });

export const GivenEnvironment = z
  .strictObject({
    name: name64.meta({ description: 'What people call it, 1 to 64 characters, unique in the template.' }),
    slug: slugText(1, 64).meta({ description: 'What programs name it by, unique in the template.' }),
    position: integer(1, MAX_ENTRIES).meta({ description: 'Its place among them, from 1, without gaps.' }),
  })
  .meta({ description: 'An environment that projects made from the template have.' });

export const GivenUser = z
  .strictObject({
    username: lowerText(255).meta({ description: 'Username of a member of the organization.' }),
    roles: roleSlugs,
  })
  .meta({ description: 'A user who joins projects made from the template.' });

export const GivenGroup = z
  .strictObject({
    groupSlug: lowerText(64).meta({ description: 'Slug of a group of the organization.' }),
    roles: roleSlugs,
  })
  .meta({ description: 'A group that joins projects made from the template.' });

export const GivenIdentity = z
  .strictObject({
    identityId: idOf('A machine identity that the organization owns.'),
    roles: roleSlugs,
  })
  .meta({ description: 'A machine identity that joins projects made from the template.' });

export const GivenOwnIdentity = z
  .strictObject({
    name: name64.meta({ description: 'What people call it, 1 to 64 characters, unique in the template.' }),
    roles: roleSlugs,
  })
  .meta({ description: 'A machine identity that is made for each project made from the template.' });

const isTooLong = (list: readonly unknown[]): boolean => Buffer.byteLength(JSON.stringify(list)) > MAX_BYTES;

const TOO_LONG = {
  code: 'custom',
  message: `must have at most ${MAX_BYTES} bytes`,
  params: { code: 'TOO_BIG' },
} as const;

/** Reports entries that have what an earlier one has. */
function refuseRepeats(issues: z.core.$RefinementCtx, list: readonly unknown[], key: string): void {
  const seen = new Set<string>();
  looseEntries(list).forEach(({ [key]: given }, at) => {
    if (typeof given !== 'string') return;
    const text = given.toLowerCase();
    if (seen.has(text)) {
      const message = 'must be unique in the list';
      issues.addIssue({ code: 'custom', path: [at, key], message, params: { code: 'DUPLICATE' } });
    }
    seen.add(text);
  });
}

/** A list of up to 32 KiB whose entries differ in these fields. */
const listOf = <E extends z.ZodObject>(entry: E, ...keys: readonly (keyof z.output<E> & string)[]) =>
  z
    .array(entry)
    .max(MAX_ENTRIES)
    .superRefine((list, issues) => {
      for (const key of keys) refuseRepeats(issues, list, key);
      if (isTooLong(list)) issues.addIssue(TOO_LONG);
    }, EVEN_IF_FAULTY);

const permitted = (rules: readonly unknown[]): ReadonlySet<string> =>
  new Set(
    looseEntries(rules).flatMap(({ subject, action }) =>
      [action].flat().map((verb) => JSON.stringify([subject, verb])),
    ),
  );

/** Whether a role in a request is a built-in one as replies have it. Source: decisions 6. */
export function isUnchangedBuiltIn({
  slug,
  name,
  permissions,
}: { [K in keyof z.output<typeof GivenRole>]?: unknown }): boolean {
  const builtIn = builtInProjectRoles().find((role) => role.slug === slug);
  if (builtIn === undefined || builtIn.name !== name || !Array.isArray(permissions)) return false;
  const isPlain = looseEntries(permissions).every(
    ({ inverted, conditions }) => inverted !== true && Object.keys(conditions ?? {}).length === 0,
  );
  const [given, own] = [permitted(permissions), permitted(builtIn.rules)];
  return isPlain && given.size === own.size && [...given].every((action) => own.has(action));
}

const NONE_OF_RESERVED = `must be none of ${RESERVED_ROLE_SLUGS.join(', ')}`;
const isOneOf = (words: readonly string[], text: unknown): boolean =>
  typeof text === 'string' && words.includes(text.toLowerCase());

const roles = z
  .array(GivenRole)
  .max(MAX_ENTRIES)
  .superRefine((list, issues) => {
    refuseRepeats(issues, list, 'slug');
    refuseRepeats(issues, list, 'name');
    looseEntries(list).forEach((role, at) => {
      if (isUnchangedBuiltIn(role)) return;
      const { slug, name, permissions } = role;
      const refuse = (key: string, message: string, code: string) =>
        issues.addIssue({ code: 'custom', path: [at, key], message, params: { code } });
      if (isOneOf(RESERVED_ROLE_SLUGS, slug)) refuse('slug', NONE_OF_RESERVED, 'RESERVED');
      if (isOneOf(RESERVED_NAMES, name)) refuse('name', 'must not be that of a built-in role', 'RESERVED');
      if (Array.isArray(permissions) && permissions.length > MAX_RULES)
        refuse('permissions', `must have at most ${MAX_RULES} entries`, 'TOO_BIG');
    });
    if (isTooLong(looseEntries(list).filter((role) => !isUnchangedBuiltIn(role)))) issues.addIssue(TOO_LONG);
  }, EVEN_IF_FAULTY);

const environments = listOf(GivenEnvironment, 'name', 'slug').superRefine((list, issues) => {
  const taken = new Set<number>();
  looseEntries(list).forEach(({ position }, at) => {
    if (typeof position !== 'number') return;
    if (position > list.length || taken.has(position)) {
      const message = 'must be one of 1 to the number of environments, each once';
      issues.addIssue({ code: 'custom', path: [at, 'position'], message, params: { code: 'INVALID' } });
    }
    taken.add(position);
  });
}, EVEN_IF_FAULTY);

/** Name of a template, unique in its organization. */
const templateName = slugText(1, 64)
  .refine((name) => name !== DEFAULT_TEMPLATE, {
    error: `must not be ${DEFAULT_TEMPLATE}, which is built in`,
    params: { code: 'RESERVED' },
  })
  .meta({
    description: 'Lower-case words joined by hyphens, 1 to 64 characters, unique in the organization; not `default`.',
  });

export const templateKind = z.enum(PROJECT_KINDS);
/** Of this type there is the built-in template alone. Source: behaviour 6.3. */
export const newTemplateKind = templateKind.exclude(['ai']);

const id = idOf('project template');
const description = personText(0, 256).meta({ description: 'What it is for, up to 256 characters.' });

/** What is said of lists that are absent or null. */
interface Left {
  readonly roles: string;
  readonly environments: string;
  readonly members: string;
}

const listsOf = (left: Left) => ({
  roles: roles.optional().meta({
    description: `Roles of the project beside the built-in ones, which are ignored when they are sent back unchanged. ${left.roles}`,
  }),
  environments: environments.nullish().meta({
    description: `Environments of the project; an empty list means none, null leaves it to whoever makes the project. ${left.environments}`,
  }),
  users: listOf(GivenUser, 'username')
    .nullish()
    .meta({ description: `Users who join the project. Needs the right to edit members. ${left.members}` }),
  groups: listOf(GivenGroup, 'groupSlug')
    .nullish()
    .meta({ description: `Groups that join the project. Needs the right to edit groups. ${left.members}` }),
  identities: listOf(GivenIdentity, 'identityId')
    .nullish()
    .meta({
      description: `Machine identities of the organization that join the project. Needs the right to edit identities. ${left.members}`,
    }),
  projectManagedIdentities: listOf(GivenOwnIdentity, 'name')
    .nullish()
    .meta({ description: `Machine identities that are made for the project. ${left.members}` }),
});

const newLists = listsOf({
  roles: 'Absent for none.',
  environments: 'Absent: Development, Staging and Production where the projects hold secrets, else as null.',
  members: 'Absent or null for none.',
});

const REPLACES = 'The list given replaces the one before; absent keeps it.';
const changedLists = listsOf({
  roles: REPLACES,
  environments: REPLACES,
  members: 'The list given replaces the one before; null clears it, absent keeps it.',
});

/** Input of `createProjectTemplate`. Source: behaviour 6.1, decisions 6. */
export const CreateProjectTemplate = z
  .strictObject({
    name: templateName,
    description: description.optional(),
    type: newTemplateKind.meta({ description: 'What the projects are for, not `ai`. It cannot change.' }),
    ...newLists,
  })
  .meta({ description: 'A new project template.' });

/** Input of `updateProjectTemplate`. Source: specification 10, decisions 6. */
export const UpdateProjectTemplate = z
  .strictObject({
    id,
    expectedVersion,
    name: templateName.optional(),
    description: description.optional(),
    type: templateKind.optional().meta({ description: 'Its type, which cannot change: another one is refused.' }),
    ...changedLists,
  })
  .meta({ description: 'Changes of a project template. What is absent stays; projects already made are not touched.' });

/** Input of `deleteProjectTemplate`, and arguments of `projectTemplate`. */
export const OneProjectTemplate = z.strictObject({ id }).meta({ description: 'Which project template.' });

/** Arguments of `projectTemplates`. */
export const ListProjectTemplates = z.strictObject({
  type: templateKind.nullish().meta({ description: 'Only those of this type.' }),
  ...pageRules,
  ...orderRulesOf('the built-in ones first, then by name'),
});

/** The lists of a request, as the rules leave them. */
export type GivenLists = Pick<z.output<typeof UpdateProjectTemplate>, keyof typeof changedLists>;
