import { authorize } from '../../../kernel/authz/ability.js';
import type { Context } from '../../../kernel/context.js';
import type { Found } from '../../../kernel/database/batched.js';
import type { ProjectRelations } from '../../projects/public.js';
import { type AuthorityRow, findAuthorities } from './authority.queries.js';

/** Authorities by ID that the caller can read; an error in place of one that it cannot. */
export const readableAuthorities = async (
  ctx: Context,
  relations: ProjectRelations,
  ids: readonly string[],
): Promise<Found<AuthorityRow>> =>
  relations.readable(ctx, await findAuthorities(ctx, { ids }), (row, access) => {
    authorize(access, 'certificate-authorities:read');
    return row;
  });
