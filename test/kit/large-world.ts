import type { Caller } from './caller.js';
import type { Seed, SeededProject } from './seed.js';

/** A project with as much in each of its lists as a large company has. */
export interface LargeWorld {
  readonly admin: Caller;
  /** A member that only reads. */
  readonly viewer: Caller;
  readonly project: SeededProject;
}

const MEMBERS = `with made as (
    insert into identity (id, organization_id, name)
    select gen_random_uuid(), organization_id, 'identity-' || slug || n from project cross join generate_series(1, $2) n
    where project.id = $1 returning id, organization_id),
  joined as (
    insert into organization_membership (id, organization_id, identity_id, role)
    select gen_random_uuid(), organization_id, id, 'no-access' from made)
  insert into project_membership (id, organization_id, project_id, identity_id, roles)
  select gen_random_uuid(), organization_id, $1, id, array['viewer', 'member'] from made`;

const ROLES = `insert into project_role (id, organization_id, project_id, slug, name, permissions)
  select gen_random_uuid(), organization_id, id, 'role-' || n, 'Role ' || n, '[{"subject":"secrets","action":["readValue"]}]'
  from project cross join generate_series(1, $2) n where project.id = $1`;

const TAGS = `insert into tag (id, organization_id, project_id, slug, color)
  select gen_random_uuid(), organization_id, id, 'tag-' || n, '#123456'
  from project cross join generate_series(1, $2) n where project.id = $1`;

/** Folders below the root of dev, each of which the root imports. */
const IMPORTS = `with made as (
    insert into folder (id, organization_id, project_id, environment_id, parent_id, name, path)
    select gen_random_uuid(), f.organization_id, f.project_id, f.environment_id, f.id, 'at-' || n, '/at-' || n
    from folder f join environment e on e.id = f.environment_id cross join generate_series(1, $2) n
    where f.project_id = $1 and f.path = '/' and e.slug = 'dev' returning id, parent_id, organization_id, project_id)
  insert into secret_import (id, organization_id, project_id, folder_id, source_folder_id, position)
  select gen_random_uuid(), organization_id, project_id, parent_id, id, row_number() over () from made`;

/** 1,000 members, 1,000 secrets in a folder, 300 imports, 300 roles, 300 tags. */
export async function seedLargeWorld(
  seed: Seed,
  sql: (text: string, params?: unknown[]) => Promise<unknown>,
): Promise<LargeWorld> {
  const { admin, project } = await seed.project();
  const viewer = await seed.caller(admin, { project: project.id });
  await seed.secrets(admin.patient, project, 'dev', 1_000);
  const { id } = project;
  await sql(MEMBERS, [id, 1_000]);
  await sql(ROLES, [id, 300]);
  await sql(TAGS, [id, 300]);
  await sql(IMPORTS, [id, 300]);
  await sql('analyze');
  return { admin, viewer, project };
}
