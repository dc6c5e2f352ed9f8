import { anyOf, columnsOf, pageBy, prepared, tablesOf } from '../../../kernel/database/tables.js';
import type { CursorKey, KeyBounds } from '../../../kernel/paging.js';
import { CertificateProfileSchema } from './profile.entity.js';
import type { ProfileRules } from './profile.rules.js';

const tables = tablesOf<typeof CertificateProfileSchema>();

const profiles = tables.selectFrom('certificate_profile').select(columnsOf(CertificateProfileSchema));

/** Profiles by ID, in any project. */
export const findProfiles = prepared(({ ids }: { ids: readonly string[] }) => profiles.where('id', '=', anyOf(ids)));

/** The same, locked until the transaction ends. */
export const lockProfiles = prepared(({ ids }: { ids: readonly string[] }) =>
  profiles.where('id', '=', anyOf(ids)).forShare(),
);

/** A profile as read from the database. */
export type ProfileRow = Awaited<ReturnType<typeof findProfiles>>[number];

/** A profile as shown to callers. */
export type ProfileView = Omit<ProfileRow, 'rules'> & ProfileRules;

export const toProfileView = ({ rules, ...profile }: ProfileRow): ProfileView => ({ ...profile, ...rules });

/** Position of a profile in a list. */
export const bySlug = ({ slug }: Pick<ProfileRow, 'slug'>): CursorKey => [slug];

/** Profiles of projects, by slug. */
export const listProfiles = prepared((page: KeyBounds & { projectIds: readonly string[] }) =>
  profiles.where('project_id', '=', anyOf(page.projectIds)).$call(pageBy('slug', page)),
);
