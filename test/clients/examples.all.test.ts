import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { minifyIntrospection, outputIntrospectionFile } from '@gql.tada/internal';
import { buildSchema, introspectionFromSchema } from 'graphql';
import { type Caller, mustSucceed } from '../kit/caller.js';
import { FakeDatatool } from '../kit/datatool.js';
import { describeWith } from '../kit/describe-with.js';
import { LENIENT, useSharedStrongroom } from '../kit/strongroom.js';

const ROOT = resolve(import.meta.dirname, '../..');
const EXAMPLES = join(ROOT, 'schema/examples');
/** The first run on a machine fetches what an example needs. */
const FETCHED_WITHIN_MS = 300_000;

interface Ended {
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program, and shows what it printed when it fails. */
async function run(
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  cwd = ROOT,
): Promise<Ended> {
  const child = spawn(program, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...env } });
  const printed = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr'] as const) child[stream].on('data', (chunk) => (printed[stream] += chunk));
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`${program} ${args[0]} ended with ${code}:\n${printed.stdout}${printed.stderr}`);
  return printed;
}

const node = (...args: string[]) => run(join(ROOT, 'node_modules/.bin/node'), args);

/** Secrets of two projects, whose values were last changed by somebody else a year ago. */
async function seedOldSecrets(admin: Caller, projects: readonly { readonly id: string }[]): Promise<void> {
  for (const { id } of projects)
    for (const secretKey of ['SENTRY_DSN', 'OTHER'])
      mustSucceed(
        await admin.post(`/api/v4/secrets/${secretKey}`, {
          ...{ projectId: id, environment: 'prod', secretValue: 'x' },
          secretMetadata: [{ key: 'tier', value: '1', isEncrypted: true }],
        }),
      );
}

describe('the report in TypeScript', () => {
  const strongroom = useSharedStrongroom(LENIENT);
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'strongroom-example-'));
    await mkdir(join(folder, 'generated'));
    await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    await copyFile(join(EXAMPLES, 'report.ts'), join(folder, 'report.ts'));
    const schema = buildSchema(await readFile(join(ROOT, 'schema/schema.graphql'), 'utf8'));
    const introspection = minifyIntrospection(introspectionFromSchema(schema) as never);
    const types = outputIntrospectionFile(introspection, { fileType: '.d.ts', shouldPreprocess: true });
    await writeFile(join(folder, 'generated/graphql-env.d.ts'), types);
    await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
    const compilerOptions = { module: 'nodenext', lib: ['es2023', 'dom'], types: ['node'], strict: true, noEmit: true };
    await writeFile(
      join(folder, 'tsconfig.json'),
      JSON.stringify({ compilerOptions: { ...compilerOptions, allowImportingTsExtensions: true, skipLibCheck: true } }),
    );
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  test('is typed by the schema, and finds what is old in all projects in one trip', async () => {
    await node(join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', folder);
    const { admin, project } = await strongroom.seed.project();
    await seedOldSecrets(admin, [project, await strongroom.seed.projectOf(admin)]);
    await strongroom.sql(`update secret set value_changed_at = now() - interval '1 year' where project_id = $1`, [
      project.id,
    ]);
    const { stdout, stderr } = await run(
      join(ROOT, 'node_modules/.bin/node'),
      [join(folder, 'report.ts'), strongroom.url, '90'],
      { STRONGROOM_TOKEN: admin.token as string },
    );
    const lines = stdout
      .trim()
      .split('\n')
      .map((line) => line.split('\t'));
    expect(lines.map(([name, path, key]) => [name, path, key])).toEqual([
      [project.name, '/', 'OTHER'],
      [project.name, '/', 'SENTRY_DSN'],
    ]);
    expect(lines[0]?.at(-1)).toContain('(admin)');
    expect(stderr).toContain('2 secrets in 1 trip');
  });
});

describeWith(['curl', 'jq'], 'the change of many secrets in a shell', () => {
  const strongroom = useSharedStrongroom(LENIENT);

  test('shows what it would change, and changes it in two trips', async () => {
    const { admin, project } = await strongroom.seed.project();
    const other = await strongroom.seed.projectOf(admin);
    await seedOldSecrets(admin, [project, other]);
    const env = { STRONGROOM: strongroom.url, TOKEN: admin.token as string };
    const script = join(EXAMPLES, 'set-owner.sh');
    const metadata = async () => {
      const { searchSecrets } = await admin.data(
        '{ searchSecrets(input: {}) { nodes { secret { secretKey secretMetadata { key value } } } } }',
      );
      return searchSecrets.nodes.map(
        ({ secret }: { secret: { secretKey: string; secretMetadata: { key: string; value: string }[] } }) => [
          secret.secretKey,
          ...secret.secretMetadata.map(({ key, value }) => `${key}=${value}`).toSorted(),
        ],
      );
    };
    const before = await metadata();

    const shown = await run('sh', [script, 'SENTRY_*', 'platform'], env);
    expect(shown.stdout.trim().split('\n').toSorted()).toEqual(
      [project, other].map(({ slug }) => `${slug}\tprod\t/\tSENTRY_DSN`).toSorted(),
    );
    expect(shown.stderr).toContain('Nothing was changed');
    expect(await metadata()).toEqual(before);

    await run('sh', [script, 'SENTRY_*', 'platform', '--apply'], env);
    expect((await metadata()).toSorted()).toEqual([
      ['OTHER', 'tier=1'],
      ['OTHER', 'tier=1'],
      ['SENTRY_DSN', 'owner=platform', 'tier=1'],
      ['SENTRY_DSN', 'owner=platform', 'tier=1'],
    ]);
  });

  test('says what is wrong', async () => {
    const { admin } = await strongroom.seed.organization();
    const ended = run('sh', [join(EXAMPLES, 'set-owner.sh'), 'A', 'b'], {
      STRONGROOM: strongroom.url,
      TOKEN: `${admin.token}x`,
    });
    await expect(ended).rejects.toThrow(/The token is invalid/);
  });
});

describeWith(['python3'], 'the set-up of a team in Python', () => {
  const strongroom = useSharedStrongroom(LENIENT);
  const python = join(ROOT, 'node_modules/.cache/strongroom-python');

  beforeAll(async () => {
    await run('python3', ['-m', 'venv', python]);
    await run(join(python, 'bin/python'), [
      '-m',
      'pip',
      'install',
      '--quiet',
      '--disable-pip-version-check',
      'gql[httpx]==4.0.0',
    ]);
  }, FETCHED_WITHIN_MS);

  test('runs twice, in at most ten trips each, and changes nothing the second time', async () => {
    const { admin, organization } = await strongroom.seed.organization();
    const fake = (await FakeDatatool.start()).unref();
    const { instanceUrl, accountId, apiToken } = fake.credentials;
    const env = {
      ...{ STRONGROOM_URL: strongroom.url, STRONGROOM_TOKEN: admin.token as string },
      ...{ DATATOOL_URL: instanceUrl, DATATOOL_ACCOUNT: accountId, DATATOOL_TOKEN: apiToken },
    };
    const onboard = () => run(join(python, 'bin/python'), [join(EXAMPLES, 'onboard.py'), 'payments'], env);
    const changes = async () =>
      (await strongroom.auditRows('organization_id = $1', [organization.id]))
        .map(({ action }) => action as string)
        .filter((action) => !/:(get|list|read)/.test(action));

    const first = await onboard();
    expect(first.stdout).toMatch(/client secret: \S+/);
    expect(first.stdout).toContain('10 created in 5 trips');
    const before = await changes();
    const { length } = fake.calls;

    const second = await onboard();
    expect(second.stdout.trim()).toBe('0 created in 4 trips');
    expect(await changes()).toEqual(before);
    expect(fake.calls).toHaveLength(length);
    await fake.stop();
  });
});
