import { type Caller, mustSucceed } from '../../kit/caller.js';
import { callerWithRules, type GivenRule } from '../../kit/rules.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';
import { withClient } from '../../kit/tables.js';
import { untilWaiting } from '../../kit/waiting.js';

const strongroom = useSharedStrongroom();

const shows = (conditions?: object, inverted = false): GivenRule => ({
  subject: 'secrets',
  action: ['describeSecret'],
  inverted,
  ...(conditions === undefined ? {} : { conditions: { ...conditions } }),
});
const RENAMES: GivenRule = { subject: 'environments', action: ['read', 'edit'] };
const EDITS_ROLES: GivenRule = { subject: 'role', action: ['read', 'edit'] };
const PRIVILEGES = '/api/v2/identity-project-additional-privilege';

/** A project, a function that makes roles in it, and one that gives prod another slug. */
async function scene() {
  const { admin, project } = await strongroom.seed.project();
  const base = `/api/v1/projects/${project.id}`;
  const [, , prod] = project.environments;
  const make = async (slug: string, ...permissions: readonly GivenRule[]): Promise<string> =>
    mustSucceed(await admin.post(`${base}/roles`, { slug, name: slug, permissions })).body.role.id;
  const write = async (environment: string) =>
    mustSucceed(await admin.post('/api/v4/secrets/KEY', { projectId: project.id, environment, secretValue: 'v' }));
  const rename = (by: Caller, slug = 'live') => by.patch(`${base}/environments/${prod.id}`, { slug });
  /** What the rules of a role have about environments. */
  const environmentsIn = async (roleId: string): Promise<unknown[]> =>
    mustSucceed(await admin.get(`${base}/roles/${roleId}`)).body.role.permissions.map(
      ({ conditions }: { conditions: { environment: unknown } | null }) => conditions?.environment ?? null,
    );
  const keysFor = async (caller: Caller, environment: string): Promise<string[]> => {
    const query = new URLSearchParams({ projectId: project.id, environment });
    const { secrets } = mustSucceed(await caller.get(`/api/v4/secrets?${query}`)).body;
    return secrets.map(({ secretKey }: { secretKey: string }) => secretKey);
  };
  const slugs = async (): Promise<string[]> =>
    mustSucceed(await admin.get(base)).body.project.environments.map(({ slug }: { slug: string }) => slug);
  return { admin, project, base, prod, make, write, rename, environmentsIn, keysFor, slugs };
}

describe('a new slug of an environment', () => {
  test('leaves forbidden what a rule of a role forbids there', async () => {
    const { admin, project, write, rename, keysFor } = await scene();
    const { caller } = await callerWithRules(
      strongroom,
      admin,
      project.id,
      shows(),
      shows({ environment: 'prod' }, true),
    );
    for (const slug of ['dev', 'prod']) await write(slug);
    expect([await keysFor(caller, 'dev'), await keysFor(caller, 'prod')]).toEqual([['KEY'], []]);
    mustSucceed(await rename(admin));
    expect([await keysFor(caller, 'dev'), await keysFor(caller, 'live')]).toEqual([['KEY'], []]);
  });

  test('leaves allowed what a rule of a role allows there, and a later environment with the old slug is another one', async () => {
    const { admin, project, base, write, rename, keysFor } = await scene();
    const { caller } = await callerWithRules(strongroom, admin, project.id, shows({ environment: 'prod' }));
    await write('prod');
    mustSucceed(await rename(admin));
    mustSucceed(await admin.post(`${base}/environments`, { name: 'Next', slug: 'prod' }));
    await write('prod');
    expect([await keysFor(caller, 'live'), await keysFor(caller, 'prod')]).toEqual([['KEY'], []]);
  });

  test('is put in the place of the old one where conditions name it, in rules of that project alone', async () => {
    const { admin, base, prod, make, rename, environmentsIn } = await scene();
    const elsewhere = await scene();
    const foreign = await elsewhere.make('foreign', shows({ environment: 'prod' }));
    const untouched = await make('untouched', shows({ environment: 'prod-eu' }), shows({ secretName: 'prod' }));
    const id = await make(
      'naming',
      shows({ environment: 'prod' }),
      shows({ environment: { $eq: 'prod', $glob: 'prod' }, secretPath: '/prod' }, true),
      shows({ environment: { $ne: 'prod' } }, true),
      shows({ environment: { $in: ['dev', 'prod', 'test'] } }),
      { subject: 'secret-folders', action: ['read'], inverted: false, conditions: { environment: { $glob: 'prod' } } },
      shows({ environment: { $glob: 'd*' } }),
      shows({ environment: 'prod-eu' }),
      shows({ secretName: 'prod' }),
      shows(),
    );

    mustSucceed(await rename(admin));

    expect(await environmentsIn(id)).toEqual([
      'live',
      { $eq: 'live', $glob: 'live' },
      { $ne: 'live' },
      { $in: ['dev', 'live', 'test'] },
      { $glob: 'live' },
      { $glob: 'd*' },
      'prod-eu',
      null,
      null,
    ]);
    const { role } = mustSucceed(await admin.get(`${base}/roles/${id}`)).body;
    expect(role).toMatchObject({
      version: 2,
      permissions: {
        1: { inverted: true, conditions: { secretPath: '/prod' } },
        7: { conditions: { secretName: 'prod' } },
      },
    });
    expect(mustSucceed(await admin.get(`${base}/roles/${untouched}`)).body.role.version).toBe(1);
    expect(await elsewhere.environmentsIn(foreign)).toEqual(['prod']);
    const [row] = await strongroom.auditRows(`action = 'environment:update' and facts ->> 'environmentId' = $1`, [
      prod.id,
    ]);
    expect(row?.facts).toMatchObject({ slug: 'live', renamedIn: [id] });
  });

  test('goes into the rules of privileges, and the history of access has them before and after', async () => {
    const { admin, project, write, rename, keysFor, prod } = await scene();
    const member = await strongroom.seed.caller(admin, { project: project.id, projectRoles: ['no-access'] });
    const { privilege } = mustSucceed(
      await admin.post(PRIVILEGES, {
        projectId: project.id,
        identityId: member.identityId,
        permissions: [shows({ environment: { $in: ['prod'] } })],
      }),
    ).body;
    await write('prod');
    mustSucceed(await rename(admin));
    expect(await keysFor(member, 'live')).toEqual(['KEY']);
    const history = await strongroom.sql<{ environment: unknown; isOver: boolean }>(
      `select content #> '{permissions,0,conditions,environment}' as environment, valid_to is not null as "isOver"
       from access_history where row_id = $1 order by sequence`,
      [privilege.id],
    );
    expect(history).toEqual([
      { environment: { $in: ['prod'] }, isOver: true },
      { environment: { $in: ['live'] }, isOver: false },
    ]);
    const [row] = await strongroom.auditRows(`action = 'environment:update' and facts ->> 'environmentId' = $1`, [
      prod.id,
    ]);
    expect(row?.facts.renamedIn).toEqual([privilege.id]);
  });

  test('needs no right to edit roles where every rule follows, and leaves none that was made meanwhile', async () => {
    const { admin, project, make, write, rename, environmentsIn } = await scene();
    await write('prod');
    const id = await make('naming', shows({ environment: { $ne: 'prod' } }, true), shows({ environment: 'prod' }));
    const developer = await strongroom.seed.caller(admin, { project: project.id, projectRoles: ['member'] });
    const made = await withClient(strongroom.databaseUrl, async (client) => {
      await client.query('begin');
      // As another node writes a role: it holds the row of the project from its audit record to its commit.
      const { rows } = await client.query<{ id: string }>(
        `insert into project_role (id, organization_id, project_id, slug, name, permissions)
         select gen_random_uuid(), organization_id, id, 'new', 'New', $2 from project where id = $1 returning id`,
        [project.id, JSON.stringify([shows({ environment: 'prod' })])],
      );
      await client.query('update project set revision = revision + 1 where id = $1', [project.id]);
      const renaming = rename(developer);
      await untilWaiting(strongroom, 1, renaming);
      await client.query('commit');
      mustSucceed(await renaming);
      return rows[0]?.id as string;
    });
    expect(await environmentsIn(id)).toEqual([{ $ne: 'live' }, 'live']);
    expect(await environmentsIn(made)).toEqual(['live']);
  });

  const SELECTING_OTHERWISE: readonly [what: string, rule: GivenRule][] = [
    ['a pattern that fits the old one alone', shows({ environment: { $glob: 'pro*' } })],
    ['a prohibition by such a pattern', shows({ environment: { $glob: '{prod,dev}' } }, true)],
    ['a pattern that fits the new one alone', shows({ environment: { $glob: 'l*' } })],
    ['the new one, which nothing had', shows({ environment: { $in: ['live', 'dev'] } })],
    ['the new one as the only one not meant', shows({ environment: { $ne: 'live' } })],
    ['an attribute of whoever has it', shows({ environment: '{{identity.metadata.stage}}' })],
  ];

  test.each(SELECTING_OTHERWISE)('needs the rights of a rule with %s, and to edit roles', async (_, rule) => {
    const { admin, project, make, rename, environmentsIn, slugs } = await scene();
    const named = await make('naming', shows({ environment: 'prod' }));
    const id = await make('otherwise', rule);
    const withRules = async (...rules: readonly GivenRule[]) =>
      (await callerWithRules(strongroom, admin, project.id, RENAMES, ...rules)).caller;

    const beyond = await rename(await withRules(EDITS_ROLES));
    expect(beyond).toBeError(403, 'PERMISSION_BOUNDARY');
    expect(beyond.body.details).toMatchObject([{ path: 'secrets', code: 'describeSecret' }]);
    const denied = await rename(await withRules(shows()));
    expect(denied).toBeError(403, 'PERMISSION_DENIED');
    expect(denied.body.details).toMatchObject([{ path: 'role', code: 'edit' }]);
    expect(await slugs()).toEqual(['dev', 'staging', 'prod']);
    expect(await environmentsIn(named)).toEqual(['prod']);

    mustSucceed(await rename(await withRules(EDITS_ROLES, shows())));
    expect(await environmentsIn(id)).toEqual([rule.conditions?.environment]);
    expect(await environmentsIn(named)).toEqual(['live']);
  });

  test('that is taken changes no rule', async () => {
    const { admin, make, rename, environmentsIn } = await scene();
    const id = await make('naming', shows({ environment: { $in: ['prod', 'dev'] } }));
    expect(await rename(admin, 'dev')).toBeError(409, 'ENVIRONMENT_SLUG_TAKEN');
    mustSucceed(await rename(admin, 'prod'));
    expect(await environmentsIn(id)).toEqual([{ $in: ['prod', 'dev'] }]);
  });

  test('takes as many statements however many rules name it', async () => {
    const counts: number[] = [];
    for (const size of [1, 5]) {
      const { admin, project, make, rename } = await scene();
      const permissions = Array.from({ length: size }, (_, at) =>
        shows({ environment: { $in: ['prod', `other-${at}`] } }),
      );
      for (let at = 0; at < size; at += 1) {
        await make(`naming-${at}`, ...permissions);
        const { identityId } = await strongroom.seed.caller(admin, { project: project.id, projectRoles: ['viewer'] });
        mustSucceed(await admin.post(PRIVILEGES, { projectId: project.id, identityId, permissions }));
      }
      mustSucceed(await rename(admin, 'first'));
      counts.push((await strongroom.statements(async () => mustSucceed(await rename(admin)))).count);
    }
    expect(counts[1]).toBe(counts[0]);
  });
});
