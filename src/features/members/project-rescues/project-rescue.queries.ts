import { sql } from 'kysely';
import { anyOf, columnsIn, pageByNewest, prepared, tablesOf } from '../../../kernel/database/tables.js';
import type { NameBounds, TimeBounds } from '../../../kernel/paging.js';
import type { ProjectSchema } from '../../projects/public.js';
import { ProjectRescueSchema } from './project-rescue.entity.js';

const tables = tablesOf<typeof ProjectRescueSchema | typeof ProjectSchema>();

const rescues = tables
  .selectFrom('project_rescue as r')
  .leftJoin('project as p', 'p.id', 'r.project_id')
  .select(columnsIn('r', ProjectRescueSchema, 'updatedAt'))
  .select(['p.name as projectName', sql<boolean>`now() < r.ends_at`.as('isActive')]);

/** Rescues of an organization by ID, in no order. */
export const findRescues = prepared(({ ids, organizationId }: { ids: readonly string[]; organizationId: string }) =>
  rescues.where('r.id', '=', anyOf(ids)).where('r.organization_id', '=', organizationId),
);

/** A rescue as read from the database. */
export type RescueRow = Awaited<ReturnType<typeof findRescues>>[number];

/** Rescues of an organization, newest first, then by ID. A null filter matches any. */
export const listRescues = prepared(
  (page: TimeBounds & { organizationId: string; projectId: string | null; isActive: boolean | null }) =>
    rescues
      .where('r.organization_id', '=', page.organizationId)
      .where(sql<boolean>`(${page.projectId}::uuid is null or r.project_id = ${page.projectId}::uuid)`)
      .where(sql<boolean>`(${page.isActive}::boolean is null or (now() < r.ends_at) = ${page.isActive}::boolean)`)
      .$call(pageByNewest('r.created_at', 'r.id', page)),
);

/**
 * Projects of an organization without a permanent admin and without an active rescue, by name, then ID. With `offset 0` admins are looked
 * up for each project, and never those of all.
 */
export const listWithoutAdmin = prepared((page: NameBounds & { organizationId: string }) =>
  tables
    .selectFrom('project as p')
    .select(['p.id as projectId', 'p.name', 'p.slug'])
    .where('p.organization_id', '=', page.organizationId)
    .where(
      sql<boolean>`not exists (select from project_lasting_admin a where a.project_id = p.id offset 0)
        and not exists (select from project_rescue r where r.project_id = p.id and now() < r.ends_at)
        and (${page.name}::text is null or (p.name collate "C", p.id) > (${page.name}::text, ${page.id}::uuid))`,
    )
    .orderBy(sql`p.name collate "C"`)
    .orderBy('p.id')
    .limit(page.limit),
);
