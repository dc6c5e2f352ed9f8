import { randomUUID } from 'node:crypto';
import { type Caller, mustSucceed } from '../../../kit/caller.js';
import type { SeededProject } from '../../../kit/seed.js';
import { useSharedStrongroom } from '../../../kit/strongroom.js';

interface Permission {
  readonly subject: string;
  readonly action: readonly string[];
  readonly conditions?: Readonly<Record<string, unknown>>;
  readonly inverted?: boolean;
}

const secrets = (action: string, conditions?: Permission['conditions'], inverted = false): Permission => ({
  subject: 'secrets',
  action: [action],
  inverted,
  ...(conditions === undefined ? {} : { conditions }),
});

/** Questions across secrets, asked by callers whose rules look at single ones. */
describe('what rules about single secrets leave', () => {
  const strongroom = useSharedStrongroom();

  /** A caller with a role of these permissions in a project. */
  async function callerWith(admin: Caller, project: SeededProject, ...permissions: Permission[]): Promise<Caller> {
    const slug = `role-${randomUUID().slice(0, 8)}`;
    mustSucceed(await admin.post(`/api/v1/projects/${project.id}/roles`, { slug, name: slug, permissions }));
    return strongroom.seed.caller(admin, { project: project.id, projectRoles: [slug] });
  }

  const join = async (admin: Caller, project: SeededProject, caller: Caller, role: string): Promise<void> => {
    const roles = [{ role }];
    const path = `/api/v2/workspace/${project.id}/identity-memberships/${caller.identityId}`;
    mustSucceed(await admin.post(path, { roles }));
  };

  const put = async (
    admin: Caller,
    { id: projectId }: Pick<SeededProject, 'id'>,
    environment: string,
    values: Readonly<Record<string, string>>,
    more: object = {},
  ) => {
    const given = Object.entries(values).map(([secretKey, secretValue]) => ({ secretKey, secretValue, ...more }));
    mustSucceed(await admin.post('/api/v4/secrets/batch', { projectId, environment, secretPath: '/', secrets: given }));
  };

  const makeTag = async (admin: Caller, { id }: Pick<SeededProject, 'id'>): Promise<string> =>
    mustSucceed(await admin.post(`/api/v1/projects/${id}/tags`, { slug: 'top', color: '#aa0000' })).body.tag.id;

  describe('of a search', () => {
    const SEARCH = `query ($after: String) { searchSecrets(input: { viewSecretValue: true }, first: 50, after: $after) {
      isScanLimitReached pageInfo { hasNextPage endCursor } nodes { secret { secretKey environmentSlug secretValue } } } }`;
    const textOf = ({
      secret,
    }: {
      secret: { secretKey: string; environmentSlug: string; secretValue: string | null };
    }) => `${secret.secretKey} ${secret.environmentSlug} ${secret.secretValue}`;

    test('is decided for each row by the rules of its own project, values apart from names', async () => {
      const { admin, project: one } = await strongroom.seed.project();
      const two = await strongroom.seed.projectOf(admin);
      const tagIds = [await makeTag(admin, one)];
      await put(admin, one, 'dev', { A: '1', B: '2' });
      await put(admin, one, 'dev', { TAGGED: '3' }, { tagIds });
      await put(admin, one, 'prod', { A: '4', B: '5' });
      await put(admin, two, 'prod', { A: '6' });
      const caller = await callerWith(
        admin,
        one,
        secrets('describeSecret', { environment: 'dev' }),
        secrets('describeSecret', { environment: 'prod', secretName: { $glob: 'B*' } }),
        secrets('readValue', { environment: { $ne: 'prod' } }),
        secrets('readValue', { secretTags: { $in: ['top'] } }, true),
      );
      await join(admin, two, caller, 'viewer');
      const { searchSecrets } = await caller.data(SEARCH);
      expect(searchSecrets.nodes.map(textOf)).toEqual([
        ...(one.slug < two.slug ? ['A dev 1', 'A prod 6'] : ['A prod 6', 'A dev 1']),
        'B dev 2',
        'B prod null',
        'TAGGED dev null',
      ]);
    });

    test('is as right with rules that leave thousands of folders', async () => {
      const { admin, project } = await strongroom.seed.project();
      await put(admin, project, 'dev', { A: '1', Z: '2' });
      await put(admin, project, 'prod', { B: '3' });
      await strongroom.sql(
        `insert into folder (id, organization_id, project_id, environment_id, parent_id, name, path)
         select gen_random_uuid(), f.organization_id, f.project_id, f.environment_id, f.id, 'f' || n, '/f' || n
         from folder f, generate_series(1, 2000) as n where f.project_id = $1`,
        [project.id],
      );
      const caller = await callerWith(
        admin,
        project,
        secrets('describeSecret', { environment: 'dev', secretPath: { $glob: '/**' } }),
        secrets('readValue', { environment: 'dev' }),
      );
      const { searchSecrets } = await caller.data(SEARCH);
      expect(searchSecrets.nodes.map(textOf)).toEqual(['A dev 1', 'Z dev 2']);
    });

    test('ends a page at 10,000 rows, says so, and goes on from there', async () => {
      const { admin, project } = await strongroom.seed.project();
      await put(admin, project, 'prod', { SEEN_1: 'x', HIDDEN: 'x', SEEN_2: 'x' });
      // Copies of a row stand in for twelve thousand writes; their values need not open.
      await strongroom.sql(
        `insert into secret (id, organization_id, project_id, environment_id, folder_id, key, value_sealed, actor_kind, actor_id)
         select gen_random_uuid(), organization_id, project_id, environment_id, folder_id, key || '_' || n, value_sealed,
           actor_kind, actor_id from secret, generate_series(1, 12000) as n where project_id = $1 and key = 'HIDDEN'`,
        [project.id],
      );
      const caller = await callerWith(admin, project, secrets('read', { secretName: { $glob: 'SEEN*' } }));
      const first = (await caller.data(SEARCH)).searchSecrets;
      expect([first.nodes, first.isScanLimitReached, first.pageInfo.hasNextPage]).toEqual([[], true, true]);
      const ask = () => caller.data(SEARCH, { after: first.pageInfo.endCursor });
      const { result, count } = await strongroom.statements(ask);
      expect(result.searchSecrets.nodes.map(textOf)).toEqual(['SEEN_1 prod x', 'SEEN_2 prod x']);
      expect([result.searchSecrets.isScanLimitReached, result.searchSecrets.pageInfo.hasNextPage]).toEqual([
        false,
        false,
      ]);
      expect(count).toBeLessThanOrEqual(7);
    });
  });

  test('of uses hides secrets that name it, secrets that are named, and imports, each by its own rules', async () => {
    const { admin, project } = await strongroom.seed.project();
    const tagIds = [await makeTag(admin, project)];
    await put(admin, project, 'prod', { PASS: 'x', OPEN: 'y' });
    await put(admin, project, 'prod', { SECOND: 'z' }, { tagIds });
    // biome-ignore-start lint/suspicious/noTemplateCurlyInString: references are written so
    await put(admin, project, 'dev', { A: '${prod.PASS}', B: '${prod.OPEN} ${prod.SECOND}' });
    await put(admin, project, 'staging', { C: '${prod.PASS}' });
    await put(admin, project, 'dev', { D: '${prod.PASS}' }, { tagIds });
    // biome-ignore-end lint/suspicious/noTemplateCurlyInString: references are written so
    for (const environment of ['dev', 'staging'])
      await admin.data(
        'mutation ($input: CreateSecretImportInput!) { createSecretImport(input: $input) { __typename } }',
        { input: { projectId: project.id, environment, path: '/', sourceEnvironment: 'prod', sourcePath: '/' } },
      );
    const caller = await callerWith(
      admin,
      project,
      secrets('describeSecret', { environment: { $ne: 'staging' } }),
      secrets('describeSecret', { secretTags: { $in: ['top'] } }, true),
      secrets('readValue'),
      { subject: 'secret-folders', action: ['read'] },
      { subject: 'secret-imports', action: ['read'], conditions: { environment: 'staging' } },
    );
    const uses = async (who: Caller, input: object) => {
      const document = `query ($input: WhereUsedInput!) { whereUsed(input: $input) { nodes { environmentSlug secretKey usedKey } } }`;
      const { whereUsed } = await who.data(document, { input });
      return whereUsed.nodes.map(
        (use: Record<string, string | null>) => `${use.environmentSlug} ${use.secretKey} ${use.usedKey}`,
      );
    };
    const folder = { folder: { projectId: project.id, environment: 'prod', path: '/' } };
    const pass = { secret: { projectId: project.id, environment: 'prod', secretKey: 'PASS' } };
    expect(await uses(admin, folder)).toHaveLength(7);
    expect(await uses(caller, folder)).toEqual(['staging null null', 'dev A PASS', 'dev B OPEN']);
    expect(await uses(caller, pass)).toEqual(['staging null null', 'dev A PASS']);
    const hidden = { secret: { projectId: project.id, environment: 'prod', secretKey: 'SECOND' } };
    const reply = await caller.graphql(
      `query ($input: WhereUsedInput!) { whereUsed(input: $input) { nodes { secretKey } } }`,
      { input: hidden },
    );
    expect(reply).toBeError(404, 'SECRET_NOT_FOUND');
  });

  describe('of equal values', () => {
    const DUPLICATES = `query ($input: DuplicateValuesInput) { duplicateValues(input: $input) { isScanLimitReached
      pageInfo { hasNextPage startCursor endCursor } nodes { count secrets { secretId secretKey environmentSlug } } } }`;

    test('is a group only where two are left, and tells nothing of the others', async () => {
      const { admin, project } = await strongroom.seed.project();
      await put(admin, project, 'dev', { A: 'same', B: 'same', C: 'pair' });
      await put(admin, project, 'prod', { A: 'same', C: 'pair', D: 'twin', E: 'twin' });
      const caller = await callerWith(
        admin,
        project,
        secrets('describeSecret'),
        secrets('readValue', { environment: 'dev' }),
        secrets('readValue', { environment: 'prod', secretName: 'D' }),
      );
      const reply = mustSucceed(await caller.graphql(DUPLICATES));
      const { nodes, pageInfo, isScanLimitReached } = reply.body.data.duplicateValues;
      const named = nodes.map(({ count, secrets: members }: { count: number; secrets: { secretKey: string }[] }) => [
        count,
        ...members.map(({ secretKey }) => secretKey),
      ]);
      expect(named).toEqual([[2, 'A', 'B']]);
      expect([pageInfo.hasNextPage, isScanLimitReached, pageInfo.startCursor]).toEqual([
        false,
        false,
        pageInfo.endCursor,
      ]);
      const shown = new Set(nodes[0].secrets.map(({ secretId }: { secretId: string }) => secretId));
      for (const { id } of await strongroom.sql<{ id: string }>('select id from secret where project_id = $1', [
        project.id,
      ]))
        expect(reply.text.includes(id)).toBe(shown.has(id));
      expect((await caller.data(DUPLICATES, { input: { minimum: 3 } })).duplicateValues.nodes).toEqual([]);
    });

    test('is nothing for who may know of secrets but not read them', async () => {
      const { admin, project } = await strongroom.seed.project();
      await put(admin, project, 'dev', { A: 'same', B: 'same' });
      const caller = await callerWith(admin, project, secrets('describeSecret'));
      expect((await caller.data(DUPLICATES)).duplicateValues.nodes).toEqual([]);
      const input = { projectIds: [project.id] };
      expect(await caller.graphql(DUPLICATES, { input })).toBeError(403, 'PERMISSION_DENIED');
    });

    test('counts open projects whole and others as far as they are seen', async () => {
      const { admin, project: one } = await strongroom.seed.project();
      const two = await strongroom.seed.projectOf(admin);
      await put(admin, one, 'dev', { A: 'same', B: 'same' });
      await put(admin, two, 'dev', { C: 'same', D: 'same', E: 'same' });
      const caller = await callerWith(admin, one, secrets('read', { secretName: 'B' }));
      await join(admin, two, caller, 'viewer');
      const [group] = (await caller.data(DUPLICATES)).duplicateValues.nodes;
      expect(group.count).toBe(4);
      expect(group.secrets.map(({ secretKey }: { secretKey: string }) => secretKey)).toEqual(['B', 'C', 'D', 'E']);
    });
  });

  test('of a comparison is unknown where the caller could not know, and never told as equal', async () => {
    const { admin, project } = await strongroom.seed.project();
    const tagIds = [await makeTag(admin, project)];
    await put(admin, project, 'dev', { A: '1', B: '2', HERE: 'x' });
    await put(admin, project, 'staging', { A: '1', B: 'other' });
    await put(admin, project, 'prod', { A: '1', B: '2', THERE: 'y' });
    await put(admin, project, 'staging', { HERE: 'x' }, { tagIds });
    const caller = await callerWith(
      admin,
      project,
      secrets('describeSecret', { environment: { $in: ['dev', 'staging'] } }),
      secrets('describeSecret', { secretTags: { $in: ['top'] } }, true),
      secrets('readValue', { secretName: { $ne: 'B' } }),
    );
    const rows = async (who: Caller, ...environments: string[]) => {
      const document = `query ($input: CompareEnvironmentsInput!) { compareEnvironments(input: $input) {
        nodes { secretKey verdict sides { presence valueGroup } } } }`;
      const input = { projectId: project.id, environments, onlyDifferences: false };
      const { nodes } = (await who.data(document, { input })).compareEnvironments;
      return nodes.map(
        (row: { secretKey: string; verdict: string; sides: { presence: string; valueGroup: number | null }[] }) =>
          `${row.secretKey} ${row.verdict} ${row.sides.map((side) => side.valueGroup ?? side.presence.charAt(0)).join('')}`,
      );
    };
    expect(await rows(caller, 'dev', 'staging')).toEqual(['A EQUAL 11', 'B UNKNOWN PP', 'HERE MISSING 1M']);
    expect(await rows(caller, 'dev', 'prod')).toEqual(['A UNKNOWN 1U', 'B UNKNOWN PU', 'HERE UNKNOWN 1U']);
    expect(await rows(admin, 'dev', 'prod')).toEqual([
      'A EQUAL 11',
      'B EQUAL 11',
      'HERE MISSING 1M',
      'THERE MISSING M1',
    ]);
  });
});
