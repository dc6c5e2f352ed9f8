import * as z from 'zod';
import type { AuditEvent, AuditFacts } from '../../../kernel/audit/audit-record.js';
import { MAX_RETENTION_DAYS } from '../../../kernel/audit/retention.js';
import type { Transaction } from '../../../kernel/context.js';
import { orderRules } from '../../../kernel/list-order.js';
import { pageRules } from '../../../kernel/paging.js';
import { idOf, integer, personText, SCALARS, slugFor, slugText } from '../../../kernel/value-rules.js';

/** Purposes of a project. */
export const PROJECT_KINDS = ['secret-manager', 'cert-manager', 'kms', 'ssh', 'secret-scanning', 'pam', 'ai'] as const;
export type ProjectKind = (typeof PROJECT_KINDS)[number];

/** Environments of a new project, in order. */
export const DEFAULT_ENVIRONMENTS = [
  { name: 'Development', slug: 'dev' },
  { name: 'Staging', slug: 'staging' },
  { name: 'Production', slug: 'prod' },
] as const;

/** Name of the built-in template. */
export const DEFAULT_TEMPLATE = 'default';

const MAX_SLUG = 36;
const MAX_IGNORE_VALUES = 500;

const MAX_DESCRIPTION = 'Description of the project, up to 1,024 characters';
const id = idOf('project');
const name = personText(1, 64).meta({
  description: 'Name of the project, for example `Web shop`: 1 to 64 characters.',
});
const description = personText(0, 1024);
const slug = slugText(5, MAX_SLUG).meta({
  description:
    'Slug of the project, for example `web-shop`: lowercase words joined by hyphens, 5 to 36 characters, unique in ' +
    'the organization. When absent, generated from the name and four random characters.',
});
const kmsKeyId = z.string().max(64).register(SCALARS, { scalar: 'ID' }).meta({
  description: 'ID of the key of the organization that wraps the data key of the project. The latest key when absent.',
});
const isProtected = z.boolean().meta({ description: 'Whether to protect the project against deletion.' });
/** Its GraphQL enum is declared next to the types. */
export const projectKind = z.enum(PROJECT_KINDS);

/** Input of `createProject`: operation 7 of the specification. */
export const CreateProject = z
  .strictObject({
    name,
    description: description
      .nullable()
      .meta({ description: `${MAX_DESCRIPTION}.` })
      .optional(),
    slug: slug.nullish(),
    kmsKeyId: kmsKeyId.nullish(),
    template: slugText(1, 64)
      .meta({ description: 'Name of the project template to create the project from.' })
      .default(DEFAULT_TEMPLATE),
    type: projectKind.meta({ description: 'Purpose of the project.' }).default('secret-manager'),
    shouldCreateDefaultEnvs: z
      .boolean()
      .meta({ description: 'Whether to create the environments Development, Staging and Production.' })
      .default(true),
    hasDeleteProtection: isProtected.default(false),
  })
  .meta({ description: 'Fields of the new project.' });

/** Fields of a new project. */
export type NewProject = z.output<typeof CreateProject>;

/** What a project is created with: the contents of a template, or of another project. */
export interface ProjectContents {
  /** The version of the template that the project is created from. */
  readonly template: { readonly id: string; readonly version: number } | null;
  /** By position; null leaves them to the caller. */
  readonly environments: readonly { readonly name: string; readonly slug: string }[] | null;
  /** Roles of the creator, besides admin. */
  readonly creatorRoles: readonly string[];
  /** The origin, for the audit record of the project. */
  readonly facts: AuditFacts;
  /** Writes the rest. @returns details for the audit record of the project */
  readonly fill: (projectId: string) => Promise<readonly AuditEvent[]>;
}

/** Only the first environments. */
export const NO_CONTENTS: ProjectContents = {
  template: null,
  environments: null,
  creatorRoles: [],
  facts: {},
  fill: async () => [],
};

/** Loads what a project is created with, in the transaction that creates it. */
export type FindContents = (tx: Transaction) => Promise<ProjectContents>;

/** Body of operation 7 of the specification: other names, and no null, which means absent only in GraphQL. */
export const CreateProjectBody = z.strictObject({
  projectName: name.meta({ description: 'Name of the project: 1 to 64 characters.' }),
  projectDescription: description.optional().meta({ description: `${MAX_DESCRIPTION}.` }),
  ...CreateProject.omit({ name: true, description: true }).shape,
  slug: slug.optional(),
  kmsKeyId: kmsKeyId.optional(),
});

/** Settings of clients: the service stores and returns them. */
export const UPPER_CASE_KEYS =
  'Whether clients write secret keys in upper case. Stored for clients; the service does not enforce it.';
export const SHARED_LINKS = 'Whether clients share secrets by link. Stored for clients; the service has no such links.';
export const LEGACY_SNAPSHOTS =
  'Whether clients show legacy snapshots. Stored for clients; the service has no such snapshots.';
export const ENCRYPTED_METADATA = 'Whether all metadata of secrets must be encrypted.';
export const KEPT_VERSIONS =
  'Number of versions kept for each secret, 1 to 100. Versions that the service writes when references follow a ' +
  'rename are counted separately: the latest of them are kept, up to the same number, and the last one before ' +
  'each other version.';

/** Input of `updateProject`: the project and its new settings. Absent keeps; null clears where null is a value. */
export const UpdateProject = z
  .strictObject({
    id,
    name: name.optional(),
    description: description
      .nullable()
      .meta({ description: `${MAX_DESCRIPTION}; null clears it.` })
      .optional(),
    slug: slugText(1, 64)
      .meta({
        description:
          'Slug of the project, for example `web-shop`: lowercase words joined by hyphens, 1 to 64 characters, unique in the organization.',
      })
      .optional(),
    autoCapitalization: z.boolean().meta({ description: UPPER_CASE_KEYS }).optional(),
    hasDeleteProtection: isProtected.optional(),
    secretSharing: z.boolean().meta({ description: SHARED_LINKS }).optional(),
    showSnapshotsLegacy: z.boolean().meta({ description: LEGACY_SNAPSHOTS }).optional(),
    enforceEncryptedSecretManagerSecretMetadata: z.boolean().meta({ description: ENCRYPTED_METADATA }).optional(),
    pitVersionLimit: integer(1, 100).meta({ description: KEPT_VERSIONS }).optional(),
    auditLogsRetentionDays: integer(1, MAX_RETENTION_DAYS)
      .nullable()
      .meta({
        description:
          'Number of days that audit records of the project are kept from now on, 1 to 3650; null for the default of the ' +
          'installation. Records are deleted at the end of the month. Only admins of the project can set it.',
      })
      .optional(),
    secretDetectionIgnoreValues: z
      .array(z.string().min(1).max(1024))
      .max(MAX_IGNORE_VALUES)
      .nullable()
      .meta({
        description:
          'Values that leak detection ignores, up to 500; null clears them. Only admins of the project can set them.',
      })
      .optional(),
  })
  .meta({ description: 'The project and its new settings.' });

/** Arguments of `project`, and input of `deleteProject`. */
export const OneProject = z.strictObject({ id }).meta({ description: 'The project to delete, by ID.' });

/** Of which projects a list is. Its GraphQL enum is declared next to the types. */
export const projectScope = z.enum(['accessible', 'organization']).meta({
  description:
    'Which projects to list: those that you have access to, or all of the organization. Default: those that you have access to.',
});
export type ProjectScope = z.output<typeof projectScope>;

/** Arguments of `projects`. */
export const ProjectPage = z.strictObject({
  ...pageRules,
  ...orderRules,
  scope: projectScope.nullish(),
  type: projectKind.nullable().meta({ description: 'Only projects of this type.' }).optional(),
});

/** The same, and whether the roles of the projects are selected. */
export const ListProjects = ProjectPage.extend({ includeRoles: z.boolean() });

/** Arguments of `projectBySlug`. */
export const BySlug = z.strictObject({
  slug: slugText(1, 64).meta({ description: 'Slug of the project, for example `web-shop`: 1 to 64 characters.' }),
});

/**
 * A generated slug for a project.
 *
 * @param suffix `SLUG_SUFFIX_LENGTH` random letters or digits
 * @returns 6 to 36 characters
 */
export const projectSlugFor = (name: string, suffix: string): string =>
  slugFor(name, suffix, { fallback: 'project', max: MAX_SLUG });

/** Number of random characters that `projectSlugFor` needs. */
export const SLUG_SUFFIX_LENGTH = 4;
