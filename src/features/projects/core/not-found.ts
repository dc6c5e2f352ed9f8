import { sql } from 'kysely';
import type { Context } from '../../../kernel/context.js';
import { anyOf, prepared, tablesOf } from '../../../kernel/database/tables.js';
import type { AppError } from '../../../kernel/errors.js';
import { nearestName, notFoundBut } from '../../../kernel/suggestions.js';
import type { EnvironmentSchema } from './environment.entity.js';
import { listSlugsLike } from './project.sql.js';
import { callerMembership } from './project-access.js';

const MOST = 500;

const listSlugsOfMany = prepared(({ projectIds, sent }: { projectIds: readonly string[]; sent: readonly string[] }) =>
  tablesOf<typeof EnvironmentSchema>()
    .selectFrom('environment')
    .select('slug')
    .where('project_id', '=', anyOf(projectIds))
    .groupBy('slug')
    .orderBy(sql`slug = any(${sent}::text[])`, 'desc')
    .orderBy('slug')
    .limit(MOST),
);

const listSlugs = prepared(({ projectId }: { projectId: string }) =>
  tablesOf<typeof EnvironmentSchema>()
    .selectFrom('environment')
    .select('slug')
    .where('project_id', '=', projectId)
    .orderBy('position')
    .limit(MOST),
);

/**
 * PROJECT_NOT_FOUND for a slug, with a similar one of a project that the caller can see. To be thrown: it takes a statement, so that
 * the other way takes none.
 */
export async function projectNotFound(ctx: Context, slug: string): Promise<AppError> {
  const found = await listSlugsLike(ctx, { ...callerMembership(ctx), organizationId: ctx.organizationId, slug });
  return notFoundBut(
    'PROJECT_NOT_FOUND',
    nearestName(
      slug,
      found.map((row) => row.slug),
    ),
  );
}

/**
 * ENVIRONMENT_NOT_FOUND for slugs of a project that the caller can see, and with it all its environments; with a slug that is similar to
 * the first of those that do not exist. To be thrown, as `projectNotFound`.
 */
export async function environmentNotFound(
  ctx: Context,
  projectId: string,
  ...sent: readonly string[]
): Promise<AppError> {
  const slugs = (await listSlugs(ctx, { projectId })).map(({ slug }) => slug);
  const unknown = sent.find((slug) => !slugs.includes(slug));
  return notFoundBut('ENVIRONMENT_NOT_FOUND', unknown && nearestName(unknown, slugs));
}

/**
 * For a filter that found nothing: ENVIRONMENT_NOT_FOUND with a similar slug, if none of these projects, which the caller can see, has one
 * of those that were sent.
 *
 * @throws ENVIRONMENT_NOT_FOUND
 */
export async function refuseMisspeltEnvironments(
  ctx: Context,
  projectIds: readonly string[],
  sent: readonly string[],
): Promise<void> {
  if (sent.length === 0 || projectIds.length === 0) return;
  const slugs = (await listSlugsOfMany(ctx, { projectIds, sent })).map(({ slug }) => slug);
  if (sent.some((slug) => slugs.includes(slug))) return;
  const nearest = sent.map((slug) => nearestName(slug, slugs)).find((slug) => slug !== undefined);
  if (nearest !== undefined) throw notFoundBut('ENVIRONMENT_NOT_FOUND', nearest);
}
