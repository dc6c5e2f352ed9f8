import type { Caller } from '../kit/caller.ts';
import { Rotating } from '../kit/rotating.ts';
import type { SharedStrongroom } from '../kit/strongroom.ts';

/** An organization as an operator has it: much that is well, and a few things that are not. */
export interface Company {
  readonly admin: Caller;
  readonly rotating: Rotating;
  /** It rotates well when it is asked to. */
  readonly failedRotation: { readonly id: string; readonly name: string };
}

/** Projects beside the first, with as many secrets each, of ages from a day to two years. */
const PROJECTS = 49;
const SECRETS_OF_EACH = 100;

const CERTIFICATES = `insert into certificate (id, organization_id, project_id, lineage_id, source, common_name, sans, names_digest, serial_number,
    not_before, not_after, key_algorithm, fingerprint_sha256, certificate, is_ca)
  select gen_random_uuid(), p.organization_id, p.id, gen_random_uuid(), 'imported', 'host-' || n || '.example.com', '{}', decode(md5(n::text), 'hex'),
    n::text, now() - interval '200 days', now() + (n % 400 + 1) * interval '1 day', 'ec-p256', p.id || ' ' || n, '', false
  from project p, generate_series(1, $2) n where p.id = $1`;

/** 50 projects with 5,000 secrets and 1,000 certificates, and rotations of which one has failed. */
export async function seedCompany(strongroom: SharedStrongroom): Promise<Company> {
  const rotating = await Rotating.start(strongroom);
  const { admin, project } = rotating;
  const failedRotation = await rotating.create({ name: 'reporting' });
  const [next, far] = [await rotating.create({ name: 'billing' }), await rotating.create({ name: 'archive' })];
  const { sql } = strongroom;
  const run = sql.bind(strongroom);
  await run(`update secret_rotation set status = 'failed' where id = $1`, [failedRotation.id]);
  await run(`update secret_rotation set next_rotation_at = now() + interval '2 days' where id = $1`, [next.id]);
  await run(`update secret_rotation set next_rotation_at = now() + interval '40 days' where id = $1`, [far.id]);
  const projects = [project];
  while (projects.length <= PROJECTS)
    projects.push(...(await Promise.all(Array.from({ length: 7 }, () => strongroom.seed.projectOf(admin)))));
  await Promise.all(projects.map((each) => strongroom.seed.secrets(admin.patient, each, 'prod', SECRETS_OF_EACH)));
  const ids = projects.map(({ id }) => id);
  await run(
    `update secret set value_changed_at = now() - (right(key, 3)::int % 100) ^ 1.43 * interval '1 day' where project_id = any($1) and key like 'KEY_%'`,
    [ids],
  );
  await run(CERTIFICATES, [project.id, 1_000]);
  return { admin, rotating, failedRotation };
}
