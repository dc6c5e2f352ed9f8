import { raw as sql } from '@mikro-orm/core';
import { authorize, can } from '../../../kernel/authz/ability.js';
import type { Context, Transaction } from '../../../kernel/context.js';
import { batched, batchOfOwned, type Found, withoutNulls } from '../../../kernel/database/batched.js';
import { flush, inTransaction } from '../../../kernel/database/in-transaction.js';
import { loadRow, lockRow } from '../../../kernel/database/rows.js';
import { AppError } from '../../../kernel/errors.js';
import { newId } from '../../../kernel/ids.js';
import { type CountedConnectionOf, pageOf } from '../../../kernel/paging.js';
import { parse, refuseViolations } from '../../../kernel/validation.js';
import { refuseOtherVersion } from '../../../kernel/value-rules.js';
import type { ProjectAccess, ProjectReader, ProjectRelations } from '../../projects/public.js';
import { findAuthorities } from '../authorities/authority.queries.js';
import { findCertificateInForce } from '../certificates/certificate.queries.js';
import { refuseOtherType } from '../shared-checks.js';
import { CertificateProfile } from './profile.entity.js';
import {
  bySlug,
  findProfiles,
  listProfiles,
  type ProfileRow,
  type ProfileView,
  toProfileView,
} from './profile.queries.js';
import {
  CreateProfile,
  ListProfiles,
  OneProfile,
  type ProfileRules,
  RULE_FIELDS,
  UpdateProfile,
} from './profile.rules.js';
import { violationsOfRules } from './profile-check.js';

const NOT_FOUND = 'CERTIFICATE_PROFILE_NOT_FOUND';
const AUTHORITY_NOT_FOUND = 'CERTIFICATE_AUTHORITY_NOT_FOUND';
const PROFILE = { find: findProfiles, notFound: NOT_FOUND } as const;
const CONSTRAINTS = {
  certificate_profile_slug_unique: 'CERTIFICATE_PROFILE_SLUG_TAKEN',
  certificate_profile_authority_fk: AUTHORITY_NOT_FOUND,
  certificate_profile_project_id_fkey: 'PROJECT_NOT_FOUND',
} as const;

type ProfileAction = `certificate-profiles:${'read' | 'edit' | 'delete' | 'issue-cert'}`;

/**
 * Profiles of certificates of projects. Permissions can be limited to slugs: profiles that a caller cannot read do not exist for it.
 *
 * Every method that takes `raw`, its unvalidated input, throws VALIDATION_FAILED, PERMISSION_DENIED and AUDIT_UNAVAILABLE.
 */
export class ProfileService {
  constructor(private readonly projects: ProjectReader) {}

  /**
   * Creates a profile.
   *
   * @throws PROJECT_NOT_FOUND, CERTIFICATE_AUTHORITY_NOT_FOUND, CERTIFICATE_PROFILE_SLUG_TAKEN; VALIDATION_FAILED
   *   (WRONG_PROJECT_TYPE) if the project is of another type, and for a profile that contradicts itself
   */
  create(ctx: Context, raw: unknown): Promise<ProfileView> {
    const { projectId: wanted, slug, description, authorityId, renewBeforeDays, ...given } = parse(CreateProfile, raw);
    return inTransaction(ctx, async (tx) => {
      const project = await this.projects.authorized(tx, wanted, 'certificate-profiles:create');
      authorize(project, 'certificate-profiles:create', { slug });
      refuseOtherType(project);
      const { organizationId, projectId } = project;
      await refuseOtherAuthority(tx, projectId, authorityId);
      const profile = tx.em.create(CertificateProfile, {
        ...{ id: newId(), organizationId, projectId, slug, authorityId },
        description: description ?? null,
        renewBeforeDays: renewBeforeDays ?? null,
        rules: consistent(merged(given)),
      });
      await flush(tx, CONSTRAINTS);
      await record(tx, 'certificate-profile:create', profile);
      return toProfileView(await loadRow(tx, findProfiles, { ids: [profile.id] }, NOT_FOUND));
    });
  }

  /**
   * Updates a profile. Issued certificates do not change; renewals follow the updated profile.
   *
   * @throws CERTIFICATE_PROFILE_NOT_FOUND, CERTIFICATE_AUTHORITY_NOT_FOUND; CONCURRENT_CHANGE if `expectedVersion` differs;
   *   VALIDATION_FAILED for a profile that contradicts itself
   */
  update(ctx: Context, raw: unknown): Promise<ProfileView> {
    const { id, expectedVersion, description, authorityId, renewBeforeDays, ...given } = parse(UpdateProfile, raw);
    return inTransaction(ctx, async (tx) => {
      const profile = await this.#lock(tx, id, 'certificate-profiles:edit');
      refuseOtherVersion(profile.version, expectedVersion);
      if (authorityId !== undefined) await refuseOtherAuthority(tx, profile.projectId, authorityId);
      const rules = consistent(merged(given, profile.rules));
      const changes = {
        authorityId: authorityId?.toLowerCase() ?? profile.authorityId,
        description: description === undefined ? (profile.description ?? null) : description,
        renewBeforeDays: renewBeforeDays === undefined ? (profile.renewBeforeDays ?? null) : renewBeforeDays,
      };
      const changed: string[] = (['authorityId', 'description', 'renewBeforeDays'] as const).filter(
        (field) => changes[field] !== (profile[field] ?? null),
      );
      changed.push(...RULE_FIELDS.filter((field) => !isEqual(rules[field], profile.rules[field])));
      if (changed.length > 0) {
        tx.em.assign(profile, { ...changes, rules, version: profile.version + 1, updatedAt: sql('now()') });
        await flush(tx, CONSTRAINTS);
      }
      await record(tx, 'certificate-profile:update', profile, { changed });
      return toProfileView(await loadRow(tx, findProfiles, { ids: [profile.id] }, NOT_FOUND));
    });
  }

  /**
   * Deletes a profile. Its certificates keep its slug.
   *
   * @returns the deleted profile
   * @throws CERTIFICATE_PROFILE_NOT_FOUND; CERTIFICATE_PROFILE_IN_USE while it has a certificate that is neither expired, revoked nor
   *   renewed, which nobody would renew any more
   */
  delete(ctx: Context, raw: unknown): Promise<ProfileView> {
    const { id } = parse(OneProfile, raw);
    return inTransaction(ctx, async (tx) => {
      const profile = await this.#lock(tx, id, 'certificate-profiles:delete');
      const before = await loadRow(tx, findProfiles, { ids: [profile.id] }, NOT_FOUND);
      const [used] = await findCertificateInForce(tx, { profileId: profile.id });
      if (used !== undefined) throw new AppError('CERTIFICATE_PROFILE_IN_USE');
      tx.em.remove(profile);
      await flush(tx);
      await record(tx, 'certificate-profile:delete', before);
      return toProfileView(before);
    });
  }

  /** Returns one profile. @throws CERTIFICATE_PROFILE_NOT_FOUND */
  async get(ctx: Context, raw: unknown): Promise<ProfileView> {
    const { row } = await this.load(ctx, parse(OneProfile, raw).id, 'certificate-profiles:read');
    await ctx.auditTrail.recordRead(ctx, auditOfRead(row));
    return toProfileView(row);
  }

  /** Lists profiles of a project, by slug. @throws PROJECT_NOT_FOUND */
  async list(ctx: Context, raw: unknown): Promise<CountedConnectionOf<ProfileView>> {
    const { projectId, ...request } = parse(ListProfiles, raw);
    const project = await this.projects.authorized(ctx, projectId, 'certificate-profiles:read');
    const page = await this.pageInProject(ctx, project, request);
    const facts = { count: page.nodes.length };
    await ctx.auditTrail.recordRead(ctx, { action: 'certificate-profile:list', projectId: project.projectId, facts });
    return page;
  }

  /**
   * Like `list`, for a project nested in a response. All projects share one statement. Projects have few profiles: all are read, so that
   * hidden ones leave no gaps in pages.
   *
   * @throws PERMISSION_DENIED
   */
  async pageInProject(ctx: Context, project: ProjectAccess, page: object): Promise<CountedConnectionOf<ProfileView>> {
    authorize(project, 'certificate-profiles:read');
    const rows = (await batched(ctx, profilesByProject, project.projectId)) ?? [];
    const readable = rows.filter(({ slug }) => can(project.ability, 'certificate-profiles:read', { slug }));
    return pageOf(readable.map(toProfileView), page, 1, bySlug);
  }

  /** Loads a profile for a caller that can do this to it. @throws CERTIFICATE_PROFILE_NOT_FOUND, also if it is hidden from the caller */
  async load(
    ctx: Context,
    id: string,
    action: ProfileAction,
  ): Promise<{ readonly row: ProfileRow; readonly project: ProjectAccess }> {
    const { row, project } = await this.projects.authorizedItem(ctx, { id }, PROFILE, action);
    const { slug } = row;
    if (![action, 'certificate-profiles:read' as const].some((known) => can(project.ability, known, { slug })))
      throw new AppError(NOT_FOUND);
    authorize(project, action, { slug });
    return { row, project };
  }

  async #lock(tx: Transaction, id: string, action: ProfileAction): Promise<CertificateProfile> {
    const { row } = await this.load(tx, id, action);
    return lockRow(tx, CertificateProfile, { id: row.id, projectId: row.projectId }, NOT_FOUND);
  }
}

/** The current fields, updated by the given ones. */
function merged(given: Partial<Record<keyof ProfileRules, unknown>>, before?: ProfileRules): ProfileRules {
  const fields = RULE_FIELDS.map((field) => [
    field,
    given[field] === undefined ? (before?.[field] ?? null) : given[field],
  ]);
  return Object.fromEntries(fields) as ProfileRules;
}

/** @throws VALIDATION_FAILED */
function consistent(rules: ProfileRules): ProfileRules {
  refuseViolations(violationsOfRules(rules));
  return rules;
}

/** Whether two values are equal as JSON, ignoring the order of keys, which `jsonb` does not keep. */
const isEqual = (one: unknown, other: unknown): boolean =>
  JSON.stringify(sorted(one)) === JSON.stringify(sorted(other));

const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([, inner]) => inner != null);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, inner]) => [key, sorted(inner)]));
};

/** @throws CERTIFICATE_AUTHORITY_NOT_FOUND if the ID is of no authority of the project */
async function refuseOtherAuthority(tx: Transaction, projectId: string, id: string): Promise<void> {
  const authority = await loadRow(tx, findAuthorities, { ids: [id] }, AUTHORITY_NOT_FOUND);
  if (authority.projectId !== projectId) throw new AppError(AUTHORITY_NOT_FOUND);
}

/** The audit record of reading a profile. */
export const auditOfRead = ({ id, projectId }: { readonly id: string; readonly projectId: string }) => ({
  action: 'certificate-profile:get',
  projectId,
  facts: { profileId: id },
});

const record = (
  tx: Transaction,
  action: string,
  { id, projectId, version = 1 }: { readonly id: string; readonly projectId: string; readonly version?: number },
  facts: Readonly<Record<string, readonly string[]>> = {},
): Promise<void> => tx.auditTrail.recordChange(tx, { action, projectId, facts: { profileId: id, version, ...facts } });

const profilesByProject = batchOfOwned(
  (ctx, projectIds) => listProfiles(ctx, { projectIds, after: null, limit: null }),
  ({ projectId }) => projectId,
);

/**
 * Profiles by ID. Whether the caller can read one depends on its slug: others are left out, or, if it can read none, replaced by an
 * error.
 */
export async function readableProfiles(
  ctx: Context,
  relations: ProjectRelations,
  ids: readonly string[],
): Promise<Found<ProfileView>> {
  const found = await relations.readable(ctx, await findProfiles(ctx, { ids }), (row, access) => {
    authorize(access, 'certificate-profiles:read');
    return can(access.ability, 'certificate-profiles:read', { slug: row.slug }) ? toProfileView(row) : null;
  });
  return withoutNulls(found);
}
