import { z } from 'zod';
import type { AuditEvent, AuditFacts } from '../../../kernel/audit/audit-record.js';
import { MAX_RETENTION_DAYS } from '../../../kernel/audit/retention.js';
import type { Transaction } from '../../../kernel/context.js';
import { integer } from '../../../kernel/int.js';
import { orderRules } from '../../../kernel/list-order.js';
import { pageRules } from '../../../kernel/paging.js';
import { isStorable, NOT_STORABLE, personText, slugFor, slugText } from '../../../kernel/text-rules.js';

/** A project next to the ID of something in it. */
export const ONLY_IN = { nullable: true, description: 'ID of the project of the environment.' } as const;

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

const name = personText(1, 64);
const description = personText(0, 1024);
const slug = slugText(5, MAX_SLUG);
const kmsKeyId = z.string().max(64);

/** Input of `createProject`: operation 7 of the specification. */
export const CreateProject = z.strictObject({
  name,
  description: description.nullish(),
  slug: slug.nullish(),
  kmsKeyId: kmsKeyId.nullish(),
  template: slugText(1, 64).default(DEFAULT_TEMPLATE),
  type: z.enum(PROJECT_KINDS).default('secret-manager'),
  shouldCreateDefaultEnvs: z.boolean().default(true),
  hasDeleteProtection: z.boolean().default(false),
});

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

/**
 * Finds a template in the transaction that creates a project.
 *
 * @throws PROJECT_TEMPLATE_NOT_FOUND, VALIDATION_FAILED for one of another type
 */
export type ApplyTemplate = (
  tx: Transaction,
  wanted: Pick<NewProject, 'template' | 'type'>,
) => Promise<ProjectContents>;

/** Body of operation 7 of the specification: other names, and no null, which means absent only in GraphQL. */
export const CreateProjectBody = z.strictObject({
  projectName: name.meta({ description: 'Name of the project: 1 to 64 characters.' }),
  projectDescription: description
    .optional()
    .meta({ description: 'Description of the project, up to 1,024 characters.' }),
  ...CreateProject.omit({ name: true, description: true }).shape,
  slug: slug.optional(),
  kmsKeyId: kmsKeyId.optional(),
});

/** What may change of a project. Absent keeps; null clears where null is a value. */
export const ProjectChanges = z.strictObject({
  name: name.optional(),
  description: description.nullish(),
  slug: slugText(1, 64).optional(),
  autoCapitalization: z.boolean().optional(),
  hasDeleteProtection: z.boolean().optional(),
  secretSharing: z.boolean().optional(),
  showSnapshotsLegacy: z.boolean().optional(),
  enforceEncryptedSecretManagerSecretMetadata: z.boolean().optional(),
  pitVersionLimit: integer(1, 100).optional(),
  auditLogsRetentionDays: integer(1, MAX_RETENTION_DAYS).nullish(),
  secretDetectionIgnoreValues: z
    .array(z.string().min(1).max(1024).refine(isStorable, NOT_STORABLE))
    .max(MAX_IGNORE_VALUES)
    .nullish(),
});

/** Input of `updateProject`: the project and its new fields. */
export const UpdateProject = ProjectChanges.extend({ id: z.string() });

/** Input of `deleteProject`. */
export const DeleteProject = z.strictObject({ id: z.string() });

/** Filter and page of the list of projects. */
export const ListProjects = z.strictObject({
  type: z.enum(PROJECT_KINDS).nullish(),
  includeRoles: z.boolean(),
  ...pageRules,
  ...orderRules,
});

/** Argument of the lookup by slug. */
export const BySlug = z.strictObject({ slug: slugText(1, 64) });

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
