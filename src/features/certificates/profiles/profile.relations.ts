import { authorize, can } from '../../../kernel/authz/ability.js';
import type { Context } from '../../../kernel/context.js';
import { type Found, withoutNulls } from '../../../kernel/database/batched.js';
import { type NodeKind, nodeKind } from '../../../kernel/graphql/node.js';
import { IN_OWN_PROJECT, type ProjectRelations } from '../../projects/public.js';
import { findProfiles, type ProfileView, toProfileView } from './profile.queries.js';
import { readOf } from './profile.service.js';

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

/** Profiles as nodes. */
export const profileNode = (relations: ProjectRelations): NodeKind =>
  nodeKind<ProfileView>({
    type: 'CertificateProfile',
    table: 'certificate_profile',
    reach: IN_OWN_PROJECT,
    load: (ctx, ids) => readableProfiles(ctx, relations, ids),
    record: readOf,
  });
