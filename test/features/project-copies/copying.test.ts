import { type Caller, mustSucceed } from '../../kit/caller.js';
import { rounds } from '../../kit/scope.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';
import { ALL, copied, copy, makeSource, newSlug, readSecrets, storedOf } from './kit.js';

const strongroom = useSharedStrongroom();

const COUNTS = {
  environments: 4,
  folders: 4,
  imports: 3,
  roles: 1,
  members: 3,
  privileges: 2,
  tags: 2,
  secrets: 6,
  values: 6,
};

const idsOf = (projectId: string): Promise<{ id: string; key: string }[]> =>
  strongroom.sql('select id, key from secret where project_id = $1', [projectId]);

/** Ids of the secrets whose values a record of the trail discloses. */
async function disclosedBy(digest: Buffer): Promise<string[]> {
  const [list] = await strongroom.sql<{ ids: string[] }>('select ids from audit_disclosure where digest = $1', [
    digest,
  ]);
  return list?.ids ?? [];
}

const countProjects = async (caller: Caller): Promise<number> =>
  (await caller.data('{ projects { totalCount } }')).projects.totalCount;

type Source = Awaited<ReturnType<typeof makeSource>>;

describe('a copy of a project', () => {
  /** One that tests copy and leave as it is. */
  let source: Source;
  beforeAll(async () => {
    source = await makeSource(strongroom);
  });

  test('has everything that the project has, and values that open in their new place', async () => {
    const { admin, project } = source;
    const { id } = project;

    const { project: made, counts, skipped } = await copied(admin, id, { slug: newSlug() });

    expect(made).toMatchObject({ name: 'Copy', description: 'Of the shop' });
    expect({ counts, skipped }).toEqual({ counts: COUNTS, skipped: [] });
    expect(await storedOf(strongroom, made.id, admin.identityId)).toEqual(
      await storedOf(strongroom, id, admin.identityId),
    );
    for (const environment of ['dev', 'prod'])
      expect(await readSecrets(admin, made.id, environment)).toEqual(await readSecrets(admin, id, environment));
    const { project: shown } = await admin.data(
      'query ($id: ID!) { project(id: $id) { secretDetectionIgnoreValues } }',
      {
        id: made.id,
      },
    );
    expect(shown).toEqual({ secretDetectionIgnoreValues: ['not-a-secret'] });
    const expanded = `projectId=${made.id}&environment=dev&secretPath=/api&expandSecretReferences=true`;
    expect(mustSucceed(await admin.get(`/api/v4/secrets/URL?${expanded}`)).body.secret).toMatchObject({
      secretValue: 'https://eu.example.com/name',
    });
  });

  test('is of its own: what changes in one of the two does not change in the other', async () => {
    const { admin, project } = source;
    const { project: made } = await copied(admin, project.id);
    const place = { projectId: made.id, environment: 'dev', secretPath: '/api/eu' };

    mustSucceed(await admin.patch('/api/v4/secrets/HOST', { ...place, secretValue: 'other', newSecretName: 'PLACE' }));

    const values = async (projectId: string): Promise<Record<string, unknown>> =>
      Object.fromEntries(
        (await readSecrets(admin, projectId, 'dev')).map(({ secretKey, secretValue }) => [secretKey, secretValue]),
      );
    expect(await values(made.id)).toMatchObject({
      PLACE: 'other',
      URL: 'https://${dev.api.eu.PLACE}/${prod.api.NAME}',
    });
    expect(await values(project.id)).toMatchObject({
      HOST: 'eu.example.com',
      URL: 'https://${dev.api.eu.HOST}/${prod.api.NAME}',
    });
  });

  test('without values has the same secrets with empty ones, and discloses none', async () => {
    const { admin, project } = source;
    const parts = ['ENVIRONMENTS', 'FOLDERS', 'SECRET_KEYS'];

    const { project: made, counts, skipped } = await copied(admin, project.id, { parts });

    expect(counts).toEqual({ ...COUNTS, roles: 0, members: 0, privileges: 0, tags: 0, values: 0 });
    expect(skipped).toEqual([]);
    const [before, after] = [await readSecrets(admin, project.id, 'dev'), await readSecrets(admin, made.id, 'dev')];
    expect(after).toEqual(before.map((secret) => ({ ...secret, secretValue: '' })));
    const { settings, secrets, members } = await storedOf(strongroom, made.id, admin.identityId);
    expect(settings).toMatchObject([{ description: null, has_delete_protection: false, pit_version_limit: 10 }]);
    expect(members).toEqual([]);
    // Nobody of those who were reminded is there.
    expect(secrets.map(({ tags, reminder_recipient_ids: recipients }) => [tags, recipients])).toEqual(
      secrets.map(() => [[], []]),
    );
    const rows = await strongroom.auditRows(
      `action like '%copy' and (project_id = $1 or project_id = $2 and facts ->> 'copyId' = $1::text)`,
      [made.id, project.id],
    );
    expect(new Set(rows.map(({ project_id }) => project_id))).toEqual(new Set([made.id, project.id]));
    expect(rows.map(({ disclosed }) => disclosed)).toEqual(rows.map(() => null));
  });

  test('has all metadata encrypted where the project wants that, also what was written before', async () => {
    const { admin, project } = await makeSource(strongroom);
    await admin.data('mutation ($input: UpdateProjectInput!) { updateProject(input: $input) { __typename } }', {
      input: { id: project.id, enforceEncryptedSecretManagerSecretMetadata: true },
    });
    const { project: made } = await copied(admin, project.id);
    const { secrets } = await storedOf(strongroom, made.id, admin.identityId);
    expect(secrets.find(({ key }) => key === 'ROOT')?.metadata).toEqual([
      { key: 'open', isEncrypted: true },
      { key: 'shut', isEncrypted: true },
    ]);
    const [root] = await readSecrets(admin, made.id, 'dev');
    expect(root?.secretMetadata).toMatchObject([{ value: 'x' }, { value: 'y' }]);
  });

  test('of no parts named has neither members nor values', async () => {
    const { admin, project } = source;
    const { counts, skipped } = await copied(admin, project.id, { parts: undefined });

    expect(counts).toEqual({ ...COUNTS, members: 0, privileges: 0, values: 0 });
    expect(skipped).toEqual([]);
  });

  test('is in both audit trails: each value that was read, and each secret that was made', async () => {
    const { admin, project } = await makeSource(strongroom);
    const { project: made } = await copied(admin, project.id, { slug: newSlug() });

    const own = await strongroom.auditRows('project_id = $1', [made.id]);
    const [creation, ...copies] = own;
    expect(creation).toMatchObject({
      action: 'project:create',
      facts: { slug: made.slug, sourceProjectId: project.id, ...COUNTS },
    });
    expect(copies.map(({ action }) => action)).toEqual(copies.map(() => 'secret:copy'));
    expect(copies).toHaveLength(5);
    const secrets = await idsOf(made.id);
    expect(copies.flatMap(({ facts }) => facts.secretIds as string[]).sort()).toEqual(
      secrets.map(({ id }) => id).sort(),
    );
    // So that `verify-audit` can compare them with what is stored.
    expect(creation?.facts.states).toHaveLength(secrets.length);
    const [read] = await strongroom.auditRows(`project_id = $1 and action = 'project:copy'`, [project.id]);
    expect(read?.facts).toEqual({ copyId: made.id, values: 6 });
    expect((await disclosedBy(read?.disclosed)).sort()).toEqual((await idsOf(project.id)).map(({ id }) => id).sort());
    expect(JSON.stringify([...own, read])).not.toContain('eu.example.com');
  });

  test('that is only rehearsed says the same, and changes, reads and discloses nothing', async () => {
    const { admin, project } = await makeSource(strongroom);
    // A value that does not open would be refused by whoever reads it.
    await strongroom.sql(`update secret set value_sealed = value_sealed || '\\x00' where project_id = $1`, [
      project.id,
    ]);
    const before = await countProjects(admin);

    const { project: made, counts, skipped } = await copied(admin, project.id, { dryRun: true });

    expect({ made, counts, skipped }).toEqual({ made: null, counts: COUNTS, skipped: [] });
    expect(await countProjects(admin)).toBe(before);
    expect(await strongroom.auditRows(`project_id = $1 and action like 'project:copy%'`, [project.id])).toMatchObject([
      { action: 'project:copy-dry-run', facts: COUNTS, disclosed: null },
    ]);
    expect(await copy(admin, project.id, { dryRun: true, slug: project.slug })).toBeError(409, 'PROJECT_SLUG_TAKEN');
  });

  test('leaves nothing behind when something fails in the middle', async () => {
    const { admin, project } = await makeSource(strongroom);
    await strongroom.sql(
      `update secret s set value_sealed = o.value_sealed from secret o
       where s.project_id = $1 and s.key = 'NAME' and o.project_id = $1 and o.key = 'HOST'`,
      [project.id],
    );
    const before = await countProjects(admin);
    const slug = newSlug();

    expect(await copy(admin, project.id, { slug })).toBeError(503, 'SEALED_VALUE_INVALID');

    expect(await countProjects(admin)).toBe(before);
    expect(await strongroom.sql('select 1 from project where slug = $1', [slug])).toEqual([]);
    expect(await strongroom.auditRows(`project_id = $1 and action = 'project:copy'`, [project.id])).toEqual([]);
    expect(
      (await copied(admin, project.id, { slug, parts: ['ENVIRONMENTS', 'FOLDERS', 'SECRET_KEYS'] })).counts,
    ).toEqual({ ...COUNTS, roles: 0, members: 0, privileges: 0, tags: 0, values: 0 });
  });

  test('is made once of two with the same slug at the same moment', async () => {
    const { admin, project } = await makeSource(strongroom);
    const slug = newSlug();

    const replies = await Promise.all([1, 2].map(() => copy(admin.patient, project.id, { slug })));

    const [refused] = replies.filter(({ body }) => body.errors !== undefined);
    expect(refused).toBeError(409, 'PROJECT_SLUG_TAKEN');
    expect(replies.filter(({ body }) => body.errors === undefined)).toHaveLength(1);
    expect(await strongroom.sql('select 1 from project where slug = $1', [slug])).toHaveLength(1);
    expect(await strongroom.auditRows(`project_id = $1 and action = 'project:copy'`, [project.id])).toHaveLength(1);
  });

  test('is of one moment, whatever is renamed while it is made', async () => {
    const { admin, project } = await makeSource(strongroom);
    const at = `/api/v1/projects/${project.id}`;
    const { roles } = mustSucceed(await admin.get(`${at}/roles`)).body;
    const { id } = roles.find(({ slug }: { slug: string }) => slug === 'reader');
    const { patient } = admin;
    for (let round = 0; round < rounds(5); round += 1)
      await Promise.all([
        ...[1, 2, 3, 4].map(() => copied(patient, project.id)),
        patient.patch(`${at}/roles/${id}`, { slug: `reader-${round}` }).then(mustSucceed),
        patient.patch(`${at}/environments/${project.environments[2].id}`, { slug: `live-${round}` }).then(mustSucceed),
      ]);
    const strays = await strongroom.sql(
      `select m.project_id, m.roles from project_membership m, unnest(m.roles) as slug
       where m.organization_id = (select organization_id from project where id = $1)
         and slug not in ('admin', 'viewer')
         and not exists (select from project_role r where r.project_id = m.project_id and r.slug = slug)`,
      [project.id],
    );
    expect(strays).toEqual([]);
  });

  test('has more secrets than one statement takes, and not more than 10,000 or 16 MiB', async () => {
    const { admin, project } = await strongroom.seed.project();
    const parts = ['ENVIRONMENTS', 'FOLDERS', 'SECRET_VALUES'];
    await strongroom.seed.secrets(admin, project, 'dev', 1_001);
    const { project: made, counts } = await copied(admin, project.id, { parts });
    expect(counts).toMatchObject({ secrets: 1_001, values: 1_001 });
    expect(await readSecrets(admin, made.id, 'dev')).toEqual(await readSecrets(admin, project.id, 'dev'));

    const lengthen = (bytes: number) =>
      strongroom.sql(
        `update secret set value_sealed = substring(value_sealed for 45) || decode(repeat('00', $2), 'hex')
         where project_id = $1 and key = 'KEY_00000'`,
        [project.id, bytes],
      );
    await lengthen(17 * 1024 * 1024);
    for (const dryRun of [true, false])
      expect(await copy(admin, project.id, { parts, dryRun })).toBeError(413, 'COPY_TOO_LARGE');
    const keys = { parts: ['ENVIRONMENTS', 'FOLDERS', 'SECRET_KEYS'], dryRun: true };
    expect((await copied(admin, project.id, keys)).counts).toMatchObject({ secrets: 1_001, values: 0 });
    await strongroom.sql(
      `insert into secret (id, organization_id, project_id, environment_id, folder_id, key, value_sealed, actor_kind, actor_id)
       select gen_random_uuid(), organization_id, project_id, environment_id, folder_id, 'MORE_' || n, '\\x00', actor_kind, actor_id
       from secret, generate_series(1, 9000) n where project_id = $1 and key = 'KEY_00001'`,
      [project.id],
    );
    expect(await copy(admin, project.id, keys)).toBeError(413, 'COPY_TOO_LARGE');
    expect(await countProjects(admin)).toBe(2);
  });

  test('takes the same statements whatever the project has', async () => {
    const { admin, project } = await makeSource(strongroom);
    const countOf = async (more: object = {}): Promise<number> =>
      (await strongroom.statements(() => copied(admin, project.id, more))).count;
    await countOf();
    const counts = [await countOf(), await countOf({ dryRun: true })];
    for (const slug of ['one', 'two', 'three']) await addMore(admin, project.id, slug);

    expect([await countOf(), await countOf({ dryRun: true })]).toEqual(counts);
    expect((await copied(admin, project.id, { dryRun: true })).counts).toEqual({
      environments: 7,
      folders: 10,
      imports: 6,
      roles: 4,
      members: 6,
      privileges: 5,
      tags: 5,
      secrets: 126,
      values: 126,
    });
  });
});

/** One more of everything, and 40 secrets. */
async function addMore(admin: Caller, projectId: string, slug: string): Promise<void> {
  const at = `/api/v1/projects/${projectId}`;
  const permissions = [{ subject: 'secrets', action: ['describeSecret'] }];
  mustSucceed(await admin.post(`${at}/environments`, { name: slug, slug }));
  mustSucceed(await admin.post(`${at}/tags`, { slug, color: '#000000' }));
  mustSucceed(await admin.post(`${at}/roles`, { slug, name: slug, permissions }));
  for (const name of ['a', 'b'])
    mustSucceed(await admin.post('/api/v2/folders', { projectId, environment: slug, path: '/', name }));
  const from = { environment: slug, path: '/b' };
  mustSucceed(await admin.post('/api/v2/secret-imports', { projectId, environment: slug, path: '/a', import: from }));
  const { identityId } = await strongroom.seed.caller(admin, { project: projectId, projectRoles: [slug] });
  const privilege = { projectId, identityId, slug, permissions };
  mustSucceed(await admin.post('/api/v2/identity-project-additional-privilege', privilege));
  await strongroom.seed.secrets(admin, { id: projectId }, slug, 40, undefined, '/a');
}

describe('the input of a copy', () => {
  test('is refused at every part that comes twice, or without the one that it needs', async () => {
    const { admin, project } = await strongroom.seed.project();

    const reply = await copy(admin, project.id, {
      name: ' ',
      parts: ['FOLDERS', 'SECRET_KEYS', 'TAGS', 'TAGS', 'SECRET_VALUES'],
    });

    expect(reply).toBeError(422, 'VALIDATION_FAILED');
    const violations = reply.body.errors[0].extensions.details as { path: string; code: string }[];
    expect(violations.map(({ path, code }) => `${path} ${code}`)).toEqual([
      'input.name TOO_SMALL',
      'input.parts[0] NEEDS_PART',
      'input.parts[3] DUPLICATE',
    ]);
    const alone = await copy(admin, project.id, { parts: ['ENVIRONMENTS', 'SECRET_VALUES', 'MEMBERS'] });
    expect(alone.body.errors[0].extensions.details).toMatchObject([
      { path: 'input.parts[1]', code: 'NEEDS_PART', message: 'requires folders too' },
      { path: 'input.parts[2]', code: 'NEEDS_PART', message: 'requires roles and tags too' },
    ]);
  });

  test('may name a project of another type, which has no contents', async () => {
    const { admin, project } = await strongroom.seed.project({ type: 'ssh' });
    const { project: made, counts } = await copied(admin, project.id, { parts: ALL });

    expect(counts).toMatchObject({ environments: 3, folders: 0, secrets: 0 });
    expect(await strongroom.sql('select type from project where id = $1', [made.id])).toEqual([{ type: 'ssh' }]);
  });
});
