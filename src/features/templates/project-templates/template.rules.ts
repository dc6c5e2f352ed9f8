import * as z from 'zod';
import type { Rule } from '../../../kernel/authz/ability.js';
import { orderRulesOf } from '../../../kernel/list-order.js';
import { pageRules } from '../../../kernel/paging.js';
import { EVEN_IF_INVALID, objectEntries } from '../../../kernel/validation.js';
import { expectedVersion, idOf, integer, personText, slugText } from '../../../kernel/value-rules.js';
import { builtInProjectRoles, Permissions, RESERVED_ROLE_SLUGS } from '../../identity/permissions/public.js';
import { DEFAULT_TEMPLATE, PROJECT_KINDS } from '../../projects/public.js';

/** A role of projects created from a template, as stored. */
export interface TemplateRole {
  readonly name: string;
  readonly slug: string;
  readonly rules: readonly Rule[];
}

/** An environment of these projects. */
export interface TemplateEnvironment {
  readonly name: string;
  readonly slug: string;
  readonly position: number;
}

/** A member of these projects, by ID. */
export interface TemplateMember {
  readonly id: string;
  readonly roles: readonly string[];
}

/** A machine identity that each project gets. */
export interface TemplateOwnIdentity {
  readonly name: string;
  readonly roles: readonly string[];
}

/** The content of a template, as stored. */
export interface TemplateContent {
  readonly name: string;
  readonly description: string;
  readonly roles: readonly TemplateRole[];
  /** By position; null leaves environments to whoever creates the project. */
  readonly environments: readonly TemplateEnvironment[] | null;
  readonly users: readonly TemplateMember[];
  readonly groups: readonly TemplateMember[];
  readonly identities: readonly TemplateMember[];
  readonly projectManagedIdentities: readonly TemplateOwnIdentity[];
}

/** A user in a template. */
export interface ShownUser {
  readonly userId: string;
  readonly username: string;
  readonly roles: readonly string[];
}

/** A group in a template. */
export interface ShownGroup {
  readonly groupId: string;
  readonly groupSlug: string;
  readonly roles: readonly string[];
}

/** A machine identity of the organization in a template. */
export interface ShownIdentity {
  readonly identityId: string;
  readonly identityName: string;
  readonly roles: readonly string[];
}

/** Limit of the JSON of each list. */
const MAX_BYTES = 32_768;
const MAX_ENTRIES = 1_000;
/** A built-in role that is sent back lists each action separately. */
const MAX_PERMISSIONS = 1_000;
/** The limit of project roles. */
const MAX_RULES = 100;
const MAX_ROLES = 10;

/** In lower case. */
const RESERVED_NAMES: readonly string[] = [
  ...['admin', 'member', 'viewer', 'no access', 'custom'],
  ...builtInProjectRoles().map(({ name }) => name.toLowerCase()),
];

const roleSlugs = z
  .array(slugText(1, 64))
  .min(1)
  .max(MAX_ROLES)
  .refine((slugs) => new Set(slugs).size === slugs.length, { ...EVEN_IF_INVALID, error: 'must not contain duplicates' })
  .meta({ description: 'Slugs of 1 to 10 roles without duplicates: built-in roles or roles of the template.' });

const name64 = personText(1, 64);
const lowerText = (max: number) => z.string().trim().toLowerCase().min(1).max(max);

const permission = Permissions.element;

export const RoleInput = z
  .strictObject({
    name: name64.meta({ description: 'Name of the role, 1 to 64 characters, unique in the template.' }),
    slug: slugText(1, 64).meta({
      description:
        'Slug of the role, 1 to 64 characters: lower-case words separated by hyphens, for example `release-manager`. Unique in the template.',
    }),
    permissions: z
      .array(permission)
      .max(MAX_PERMISSIONS)
      .meta({ description: 'Permission rules of the role, up to 100. Later rules override earlier ones.' }),
  })
  .meta({ description: 'A role of projects created from the template.' });

export const EnvironmentInput = z
  .strictObject({
    name: name64.meta({ description: 'Name of the environment, 1 to 64 characters, unique in the template.' }),
    slug: slugText(1, 64).meta({ description: 'Slug of the environment, for example `prod`. Unique in the template.' }),
    position: integer(1, MAX_ENTRIES).meta({ description: 'Position of the environment, from 1 without gaps.' }),
  })
  .meta({ description: 'An environment of projects created from the template.' });

export const UserInput = z
  .strictObject({
    username: lowerText(255).meta({ description: 'Username of a member of the organization.' }),
    roles: roleSlugs,
  })
  .meta({ description: 'A user who becomes a member of projects created from the template.' });

export const GroupInput = z
  .strictObject({
    groupSlug: lowerText(64).meta({ description: 'Slug of a group of the organization.' }),
    roles: roleSlugs,
  })
  .meta({ description: 'A group that becomes a member of projects created from the template.' });

export const IdentityInput = z
  .strictObject({
    identityId: idOf('ID of a machine identity owned by the organization.'),
    roles: roleSlugs,
  })
  .meta({ description: 'A machine identity that becomes a member of projects created from the template.' });

export const OwnIdentityInput = z
  .strictObject({
    name: name64.meta({ description: 'Name of the machine identity, 1 to 64 characters, unique in the template.' }),
    roles: roleSlugs,
  })
  .meta({ description: 'A machine identity that is created in each project created from the template.' });

const isTooLong = (list: readonly unknown[]): boolean => Buffer.byteLength(JSON.stringify(list)) > MAX_BYTES;

const TOO_LONG = {
  code: 'custom',
  message: `must have at most ${MAX_BYTES} bytes`,
  params: { code: 'TOO_BIG' },
} as const;

/** Reports entries that repeat a value of an earlier one. */
function refuseRepeats(issues: z.core.$RefinementCtx, list: readonly unknown[], key: string): void {
  const seen = new Set<string>();
  objectEntries(list).forEach(({ [key]: given }, at) => {
    if (typeof given !== 'string') return;
    const text = given.toLowerCase();
    if (seen.has(text)) {
      const message = 'must be unique in the list';
      issues.addIssue({ code: 'custom', path: [at, key], message, params: { code: 'DUPLICATE' } });
    }
    seen.add(text);
  });
}

/** A list of up to 32 KiB whose entries must differ in these fields. */
const listOf = <E extends z.ZodObject>(entry: E, ...keys: readonly (keyof z.output<E> & string)[]) =>
  z
    .array(entry)
    .max(MAX_ENTRIES)
    .superRefine((list, issues) => {
      for (const key of keys) refuseRepeats(issues, list, key);
      if (isTooLong(list)) issues.addIssue(TOO_LONG);
    }, EVEN_IF_INVALID);

const permitted = (rules: readonly unknown[]): ReadonlySet<string> =>
  new Set(
    objectEntries(rules).flatMap(({ subject, action }) =>
      [action].flat().map((verb) => JSON.stringify([subject, verb])),
    ),
  );

/** Whether a role in a request is a built-in one, as responses list it. */
export function isUnchangedBuiltIn({
  slug,
  name,
  permissions,
}: { [K in keyof z.output<typeof RoleInput>]?: unknown }): boolean {
  const builtIn = builtInProjectRoles().find((role) => role.slug === slug);
  if (builtIn === undefined || builtIn.name !== name || !Array.isArray(permissions)) return false;
  const isPlain = objectEntries(permissions).every(
    ({ inverted, conditions }) => inverted !== true && Object.keys(conditions ?? {}).length === 0,
  );
  const [given, own] = [permitted(permissions), permitted(builtIn.rules)];
  return isPlain && given.size === own.size && [...given].every((action) => own.has(action));
}

const NONE_OF_RESERVED = `must be none of ${RESERVED_ROLE_SLUGS.join(', ')}`;
const isOneOf = (words: readonly string[], text: unknown): boolean =>
  typeof text === 'string' && words.includes(text.toLowerCase());

const roles = z
  .array(RoleInput)
  .max(MAX_ENTRIES)
  .superRefine((list, issues) => {
    refuseRepeats(issues, list, 'slug');
    refuseRepeats(issues, list, 'name');
    objectEntries(list).forEach((role, at) => {
      if (isUnchangedBuiltIn(role)) return;
      const { slug, name, permissions } = role;
      const refuse = (key: string, message: string, code: string) =>
        issues.addIssue({ code: 'custom', path: [at, key], message, params: { code } });
      if (isOneOf(RESERVED_ROLE_SLUGS, slug)) refuse('slug', NONE_OF_RESERVED, 'RESERVED');
      if (isOneOf(RESERVED_NAMES, name)) refuse('name', 'must not be the name of a built-in role', 'RESERVED');
      if (Array.isArray(permissions) && permissions.length > MAX_RULES)
        refuse('permissions', `must have at most ${MAX_RULES} entries`, 'TOO_BIG');
    });
    if (isTooLong(objectEntries(list).filter((role) => !isUnchangedBuiltIn(role)))) issues.addIssue(TOO_LONG);
  }, EVEN_IF_INVALID);

const environments = listOf(EnvironmentInput, 'name', 'slug').superRefine((list, issues) => {
  const taken = new Set<number>();
  objectEntries(list).forEach(({ position }, at) => {
    if (typeof position !== 'number') return;
    if (position > list.length || taken.has(position)) {
      const message = 'must be a position from 1 to the number of environments, without duplicates';
      issues.addIssue({ code: 'custom', path: [at, 'position'], message, params: { code: 'INVALID' } });
    }
    taken.add(position);
  });
}, EVEN_IF_INVALID);

/** Name of a template, unique in its organization. */
const templateName = slugText(1, 64)
  .refine((name) => name !== DEFAULT_TEMPLATE, {
    error: `must not be ${DEFAULT_TEMPLATE}, the name of the built-in template`,
    params: { code: 'RESERVED' },
  })
  .meta({
    description:
      'Name of the template, 1 to 64 characters: lower-case words separated by hyphens. Unique in the organization; not `default`.',
  });

export const templateKind = z.enum(PROJECT_KINDS);
/** The type `ai` has only its built-in template. */
export const newTemplateKind = templateKind.exclude(['ai']);

const id = idOf('project template');
const description = personText(0, 256).meta({ description: 'Description of the template, up to 256 characters.' });

/** What absent or null lists mean. */
interface Left {
  readonly roles: string;
  readonly environments: string;
  readonly members: string;
}

const listsOf = (left: Left) => ({
  roles: roles.optional().meta({
    description: `Custom roles of the project. Built-in roles that are sent back unchanged are ignored. ${left.roles}`,
  }),
  environments: environments.nullish().meta({
    description: `Environments of the project. An empty list means none; null leaves them to whoever creates the project. ${left.environments}`,
  }),
  users: listOf(UserInput, 'username')
    .nullish()
    .meta({
      description: `Users who become members of the project. Requires the right to edit members. ${left.members}`,
    }),
  groups: listOf(GroupInput, 'groupSlug')
    .nullish()
    .meta({
      description: `Groups that become members of the project. Requires the right to edit groups. ${left.members}`,
    }),
  identities: listOf(IdentityInput, 'identityId')
    .nullish()
    .meta({
      description: `Machine identities of the organization that become members of the project. Requires the right to edit identities. ${left.members}`,
    }),
  projectManagedIdentities: listOf(OwnIdentityInput, 'name')
    .nullish()
    .meta({ description: `Machine identities that are created in the project. ${left.members}` }),
});

const newLists = listsOf({
  roles: 'Absent means none.',
  environments:
    'Absent means Development, Staging and Production for types that hold secrets; for others it is the same as null.',
  members: 'Absent or null means none.',
});

const REPLACES = 'Replaces the current list; absent keeps it.';
const changedLists = listsOf({
  roles: REPLACES,
  environments: REPLACES,
  members: 'Replaces the current list; null clears it, absent keeps it.',
});

/** Input of `createProjectTemplate` (operation 9). */
export const CreateProjectTemplate = z
  .strictObject({
    name: templateName,
    description: description.optional(),
    type: newTemplateKind.meta({ description: 'Type of the projects, not `ai`. Cannot be changed later.' }),
    ...newLists,
  })
  .meta({ description: 'Fields of the new project template.' });

/** Input of `updateProjectTemplate` (operation 10). */
export const UpdateProjectTemplate = z
  .strictObject({
    id,
    expectedVersion,
    name: templateName.optional(),
    description: description.optional(),
    type: templateKind.optional().meta({
      description: 'Type of the projects. It cannot change: any other value than the current one is refused.',
    }),
    ...changedLists,
  })
  .meta({
    description:
      'Fields of the project template to change. Absent fields keep their value. Existing projects do not change.',
  });

/** Input of `deleteProjectTemplate`, and arguments of `projectTemplate`. */
export const OneProjectTemplate = z.strictObject({ id }).meta({ description: 'The project template, by ID.' });

/** Arguments of `projectTemplates`. */
export const ListProjectTemplates = z.strictObject({
  type: templateKind.nullish().meta({ description: 'Only templates of this type.' }),
  ...pageRules,
  ...orderRulesOf('built-in templates first, then by name'),
});

/** The lists of a request, after validation. */
export type TemplateLists = Pick<z.output<typeof UpdateProjectTemplate>, keyof typeof changedLists>;
