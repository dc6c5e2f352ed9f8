import { projectRole } from '../features/groups/kit.js';
import { type Caller, mustSucceed } from '../kit/caller.js';
import { Rotating } from '../kit/rotating.js';
import type { SeededProject } from '../kit/seed.js';
import { LENIENT, type SharedStrongroom, useSharedStrongroom } from '../kit/strongroom.js';
import { until } from '../kit/until.js';
import { violations } from './accessibility.js';
import { describeInBrowser, type Visit } from './browser.js';

const strongroom: SharedStrongroom = useSharedStrongroom(LENIENT);
/** What only a reveal may show. */
const VALUE = 'canary-93f1c0-prod';
const ENCRYPTED = 'canary-77aa12-owner';
const MANY = 600;
const PROJECTS = 60;

interface World {
  readonly admin: Caller;
  readonly project: SeededProject;
  readonly rotating: Rotating;
  readonly rotated: { readonly id: string; readonly name: string };
  readonly group: { readonly name: string };
  readonly ids: Readonly<Record<string, string>>;
}
let world: World;

beforeAll(async () => {
  world = await seedWorld();
});
afterAll(() => world?.rotating.stop());

/**
 * `/` has hundreds of keys, of which one differs and one is missing, `/app` a few. Of these `DB_PASSWORD` of prod is used by a secret
 * and by a folder that imports its own.
 */
async function seedWorld(): Promise<World> {
  const rotating = await Rotating.start(strongroom);
  const { project } = rotating;
  const admin = rotating.admin.patient;
  const rotated = await rotating.create({ name: 'reporting', secretsMapping: { serviceToken: 'REPORT_TOKEN' } });
  mustSucceed(await rotating.rotate(rotated.id));
  const { id: projectId } = project;
  for (const slug of ['qa', 'demo', 'load'])
    mustSucceed(await admin.post(`/api/v1/projects/${projectId}/environments`, { name: `The ${slug}`, slug }));
  const put = async (environment: string, secretPath: string, secrets: object[]) =>
    mustSucceed(await admin.post('/api/v4/secrets/batch', { projectId, environment, secretPath, secrets }));
  for (const [environment, path, name] of [
    ...['dev', 'staging', 'prod'].map((each) => [each, '/', 'app'] as const),
    ['prod', '/app', 'deep'] as const,
    ['prod', '/', 'lib'] as const,
    ['dev', '/', 'worker'] as const,
  ])
    mustSucceed(await admin.post('/api/v2/folders', { projectId, environment, path, name }));
  for (const environment of ['dev', 'staging', 'prod'])
    await strongroom.seed.secrets(
      admin,
      project,
      environment,
      environment === 'prod' ? MANY - 1 : MANY,
      (secret, index) => (environment === 'prod' && index === 550 ? { ...secret, secretValue: 'other' } : secret),
    );
  const { tag } = mustSucceed(
    await admin.post(`/api/v1/projects/${projectId}/tags`, { slug: 'database', color: '#2266cc' }),
  ).body;
  const of = (values: Record<string, string>) =>
    Object.entries(values).map(([secretKey, secretValue]) => ({ secretKey, secretValue }));
  await put('dev', '/app', of({ API_URL: 'https://api', DB_PASSWORD: 'dev', DEBUG: 'yes' }));
  await put('staging', '/app', of({ API_URL: 'https://api', DB_PASSWORD: 'dev' }));
  await put('prod', '/lib', of({ SHARED: 'shared' }));
  await put('prod', '/app', [
    ...of({ API_URL: 'https://api' }),
    {
      ...{ secretKey: 'DB_PASSWORD', secretValue: 'first', secretComment: 'Of the main cluster', tagIds: [tag.id] },
      secretMetadata: [{ key: 'owner', value: ENCRYPTED, isEncrypted: true }],
    },
  ]);
  mustSucceed(
    await admin.patch('/api/v4/secrets/DB_PASSWORD', {
      ...{ projectId, environment: 'prod', secretPath: '/app', secretValue: `\${prod.lib.SHARED} ${VALUE}` },
    }),
  );
  await put('staging', '/app', of({ DB_URL: 'pg://app:${prod.app.DB_PASSWORD}@db' }));
  for (const [environment, path, from] of [
    ['prod', '/app', '/lib'],
    ['dev', '/worker', '/app'],
  ])
    mustSucceed(
      await admin.post('/api/v2/secret-imports', {
        ...{ projectId, environment, path, import: { environment: 'prod', path: from } },
      }),
    );
  const member = await strongroom.seed.caller(admin);
  const group = await strongroom.seed.group(admin, member);
  mustSucceed(await admin.post(`/api/v2/workspace/${projectId}/groups/${group.id}`, { roles: [{ role: 'viewer' }] }));
  for (let made = 0; made < PROJECTS; made += 10)
    await Promise.all(
      Array.from({ length: 10 }, (_, at) =>
        strongroom.seed.projectOf(admin, { projectName: `Service ${String(made + at).padStart(3, '0')}` }),
      ),
    );
  // It reads in those of its sessions that come with a claim.
  const machine = await strongroom.seed.caller(admin, {
    project: projectId,
    projectRoles: [
      await projectRole(admin, projectId, {
        ...{ subject: 'secrets', action: ['describeSecret', 'readValue'] },
        conditions: { secretPath: '/{{identity.auth.oidc.claims.repository}}' },
      }),
    ],
  });
  mustSucceed(
    await admin.post(`/api/v1/auth/oidc-auth/identities/${machine.identityId}`, {
      ...{ oidcDiscoveryUrl: 'https://issuer.example.com', boundIssuer: 'https://issuer.example.com' },
      ...{ boundAudiences: 'strongroom', claimMetadataMapping: { repository: 'repository' } },
    }),
  );
  const { secrets } = await admin.data(
    `query ($id: ID!) { secrets(projectId: $id, environment: "prod", secretPath: "/app") { nodes { id secretKey } } }`,
    { id: projectId },
  );
  const ids = Object.fromEntries(
    (secrets.nodes as { id: string; secretKey: string }[]).map(({ id, secretKey }) => [secretKey, id]),
  );
  return { admin, project, rotating, rotated, group, ids };
}

async function signIn({ page }: Visit, token: string, path: string): Promise<void> {
  await page.goto(strongroom.url + path);
  await page.getByLabel('Access token').fill(token);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

const section = (visit: Visit, title: string) =>
  visit.page.getByRole('region', { name: title }).and(visit.page.locator('[aria-busy="false"]'));
const table = ({ page }: Visit) => page.getByRole('grid', { name: 'Secrets by environment' });
const row = (visit: Visit, key: string) => table(visit).getByRole('row', { name: key, exact: true });
const toApp = async (visit: Visit) => {
  await visit.page.getByRole('treegrid', { name: 'Folders' }).getByRole('row', { name: 'app' }).click();
  await row(visit, 'DB_PASSWORD').waitFor();
};
const holds = async (visit: Visit, name: string) => {
  await visit.picture(`console-project-${name}`);
  expect({ name, violations: await violations(visit.page) }).toEqual({ name, violations: [] });
  const overflow = await visit.page.evaluate('document.documentElement.scrollWidth - innerWidth');
  expect({ name, overflow }).toEqual({ name, overflow: 0 });
};

/** Which of the texts the program of the page still holds, wherever it keeps them. */
async function inMemory({ page }: Visit, texts: readonly string[]): Promise<string[]> {
  const session = await page.context().newCDPSession(page);
  const parts: string[] = [];
  session.on('HeapProfiler.addHeapSnapshotChunk', ({ chunk }) => parts.push(chunk));
  await session.send('HeapProfiler.collectGarbage');
  await session.send('HeapProfiler.takeHeapSnapshot', {});
  await session.detach();
  const snapshot = parts.join('');
  // What the page does hold: the snapshot shows such texts.
  expect(snapshot).toContain(world.ids.DB_PASSWORD);
  return texts.filter((text) => snapshot.includes(text));
}

const LOOKS = (['light', 'dark'] as const).flatMap((colorScheme) =>
  [360, 1280].map((width) => ({ colorScheme, viewport: { width, height: 900 }, width })),
);

describeInBrowser('projects in the console', (open) => {
  test('are found among many by name, and opened', async () => {
    const visit = await open(strongroom.url);
    await signIn(visit, world.admin.token as string, '/console/projects');
    await visit.page.getByText(`${PROJECTS + 1} of ${PROJECTS + 1}`).waitFor();
    const list = visit.page.getByRole('grid', { name: 'Projects' });
    // Only what is seen is in the page.
    expect(await list.getByRole('row').count()).toBeLessThan(40);
    await visit.page.getByRole('searchbox', { name: 'Name' }).fill('vice 047');
    await visit.page.getByText(`1 of ${PROJECTS + 1}`).waitFor();
    await list.getByText('Secret manager').waitFor();
    await list.getByRole('row', { name: 'Service 047' }).click();
    await visit.page.getByRole('heading', { name: /Service 047/ }).waitFor();
    await section(visit, 'Side by side').getByText('No secrets in this folder.').waitFor();
    await visit.page.getByRole('link', { name: 'All projects' }).click();
    await list.waitFor();
    expect(visit.violations).toEqual([]);
  });

  test('show environments side by side: what differs, what is missing, what is equal', async () => {
    const visit = await open(strongroom.url);
    await signIn(visit, world.admin.token as string, `/console/projects/${world.project.id}`);
    await row(visit, 'KEY_00000').waitFor();
    // Five of the six at once.
    expect(await table(visit).getByRole('columnheader').allTextContents()).toEqual([
      ...['Key', 'Status', 'Development', 'Staging', 'Production', 'The qa', 'The demo'],
    ]);
    const environments = visit.page.getByRole('toolbar', { name: 'Environments side by side' });
    expect(await environments.getByRole('button', { name: 'The load' }).isDisabled()).toBe(true);
    await environments.getByRole('button', { name: 'The qa' }).click();
    await environments.getByRole('button', { name: 'The demo' }).click();
    await row(visit, 'KEY_00000').getByText('Equal').waitFor();
    expect(await table(visit).getByRole('row').count()).toBeLessThan(60);

    // What is searched is on the third page.
    await visit.page.getByRole('searchbox', { name: 'Key' }).fill('key_0055');
    await row(visit, 'KEY_00550').getByText('Different').waitFor();
    expect(await row(visit, 'KEY_00550').locator('.group').allTextContents()).toEqual(['A', 'A', 'B']);
    await visit.page.getByRole('searchbox', { name: 'Key' }).fill('');
    await visit.page.getByRole('radio', { name: 'Missing' }).click();
    await row(visit, `KEY_00${MANY - 1}`)
      .getByText('— missing')
      .waitFor();
    expect(await table(visit).getByRole('row').count()).toBeLessThan(6);

    await toApp(visit);
    expect(await row(visit, 'DB_PASSWORD').locator('.group').allTextContents()).toEqual(['A', 'A', 'B']);
    await row(visit, 'API_URL').getByText('Equal').waitFor();
    await row(visit, 'DEBUG').getByText('∅ Missing').waitFor();
    expect(await row(visit, 'DEBUG').getByText('— missing').count()).toBe(2);
    const contents = section(visit, 'Folders and imports of /app');
    await contents.getByText('prod /lib').waitFor();
    await contents.getByRole('button', { name: 'deep/' }).waitFor();

    // What others change is seen without a reload.
    const place = { projectId: world.project.id, environment: 'staging', secretPath: '/app' };
    mustSucceed(await world.admin.post('/api/v4/secrets/NEWS', { ...place, secretValue: 'x' }));
    await row(visit, 'NEWS').waitFor();
    mustSucceed(await world.admin.delete('/api/v4/secrets/NEWS', place));
    await row(visit, 'NEWS').waitFor({ state: 'detached' });

    // A folder that none of the chosen has: others can still be chosen.
    await visit.page.getByRole('treegrid', { name: 'Folders' }).getByRole('row', { name: 'worker' }).click();
    await environments.getByRole('button', { name: 'Development' }).click();
    await visit.page.getByRole('alert').getByText('The folder does not exist').waitFor();
    await environments.getByRole('button', { name: 'Development' }).click();
    await section(visit, 'Side by side').getByText('No secrets in this folder.').waitFor();
    await toApp(visit);

    // One alone is a list of its keys.
    await environments.getByRole('button', { name: 'Staging' }).click();
    await environments.getByRole('button', { name: 'Development' }).click();
    await row(visit, 'DB_PASSWORD').waitFor();
    expect(await table(visit).getByRole('columnheader').allTextContents()).toEqual(['Key', 'Production']);
    expect(visit.violations).toEqual([]);
  });

  test('tell of a secret what it is, who changed it, who reads it, and what uses it', async () => {
    const visit = await open(strongroom.url);
    await signIn(visit, world.admin.token as string, `/console/projects/${world.project.id}`);
    await toApp(visit);
    await row(visit, 'DB_PASSWORD').getByRole('link', { name: 'DB_PASSWORD in prod' }).click();
    expect(visit.page.url()).toContain(`/secrets/${world.ids.DB_PASSWORD}`);
    const facts = section(visit, 'Value');
    for (const text of ['prod /app', 'database', 'Of the main cluster', 'owner']) await facts.getByText(text).waitFor();
    const versions = section(visit, 'Versions');
    await versions.getByText('Changed: value').waitFor();
    await versions.getByText('Created').waitFor();
    const readers = section(visit, 'Who can read the value');
    await readers.getByText('Role admin, own membership').first().waitFor();
    await readers.getByText(`Role viewer, through group ${world.group.name}`).waitFor();
    expect(await readers.getByText('In some sessions only').count()).toBe(1);
    const uses = section(visit, 'What it uses, and what uses it');
    await uses.getByText('import 1 of its folder').waitFor();
    await uses.getByRole('link', { name: 'DB_URL' }).waitFor();
    await uses.getByText('imports its folder').waitFor();
    await uses.getByRole('link', { name: 'DB_URL' }).click();
    await visit.page.getByRole('heading', { name: 'DB_URL' }).waitFor();
    const named = uses.getByRole('listitem').filter({ hasText: 'reference in its value' });
    await named.filter({ hasText: 'DB_PASSWORD prod /app' }).waitFor();
    await visit.page.keyboard.press('Escape');
    await visit.page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(visit.page.url()).toBe(`${strongroom.url}/console/projects/${world.project.id}?folder=%2Fapp`);
    await row(visit, 'DB_PASSWORD').waitFor();

    const { secrets } = await world.admin.data(
      `query ($id: ID!) { secrets(projectId: $id, environment: "dev") { nodes { id secretKey } } }`,
      { id: world.project.id },
    );
    const { id } = secrets.nodes.find(({ secretKey }: { secretKey: string }) => secretKey === 'REPORT_TOKEN');
    await visit.page.evaluate(`history.pushState(null, '', '/console/projects/${world.project.id}/secrets/${id}');
      dispatchEvent(new PopStateEvent('popstate'))`);
    const rotation = section(visit, 'Rotation');
    await rotation.getByText('reporting').waitFor();
    expect((await rotation.locator('.attempts li').allTextContents()).map((text) => text.slice(0, 18))).toEqual([
      expect.stringMatching(/^2 Succeeded Manual/),
      expect.stringMatching(/^1 Succeeded Creati/),
    ]);
    expect(visit.violations).toEqual([]);
  });

  test('reveal a value when asked to, for 30 seconds, and keep it nowhere', async () => {
    const visit = await open(strongroom.url);
    const { page } = visit;
    await page.clock.install();
    const withValue: string[] = [];
    page.on('response', async (response) => {
      if (response.request().method() !== 'POST' || response.headers()['content-type']?.includes('event-stream'))
        return;
      const text = await response.text().catch(() => '');
      if (text.includes(VALUE) || text.includes(ENCRYPTED))
        withValue.push(JSON.parse(response.request().postData() ?? '{}').operationName);
    });
    const path = `/console/projects/${world.project.id}/secrets/${world.ids.DB_PASSWORD}`;
    await signIn(visit, world.admin.token as string, path);
    // What it references is a part of the value, too, and read when the page is opened, each time.
    const reads = async (wanted = 'secret:get') => {
      const { secret } = await world.admin.data(
        `query ($id: ID!) { secret(id: $id, viewSecretValue: false) { reads { nodes { action } } } }`,
        { id: world.ids.DB_PASSWORD },
      );
      return secret.reads.nodes.filter(({ action }: { action: string }) => action === wanted).length;
    };
    const before = await reads();
    const shown = page.getByText(VALUE);
    const reveal = page.getByRole('button', { name: 'Reveal' });
    const masked = async () => {
      await reveal.waitFor();
      expect(await page.content()).not.toContain(VALUE);
      expect(await page.content()).not.toContain(ENCRYPTED);
    };
    const uses = section(visit, 'What it uses, and what uses it');
    await uses.getByRole('listitem').filter({ hasText: 'SHARED prod /lib' }).waitFor();
    await masked();
    expect(withValue).toEqual([]);
    const opened = await reads('secret:list-references');

    await page.clock.pauseAt(Date.now() + 600_000);
    await reveal.click();
    await shown.waitFor();
    await page.getByText(ENCRYPTED).waitFor();
    const { local, session, address } = await visit.kept();
    for (const kept of [local, session, address, await page.title()]) expect(kept).not.toContain('canary');
    expect(await page.evaluate('indexedDB.databases().then((all) => all.length)')).toBe(0);
    await until('the read is in the trail', 10_000, async () => (await reads()) === before + 1);
    await page.clock.runFor(29_900);
    expect(await shown.count()).toBe(1);
    await page.clock.runFor(200);
    await page.clock.resume();
    await masked();

    // When the page is hidden.
    await reveal.click();
    await shown.waitFor();
    await page.evaluate(`Object.defineProperty(document, 'hidden', { value: true, configurable: true });
      document.dispatchEvent(new Event('visibilitychange'))`);
    await masked();
    await page.evaluate('delete document.hidden');

    // When it is left: it is asked for again, and was in no cache.
    await reveal.click();
    await shown.waitFor();
    await page.getByRole('button', { name: 'Close' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await page.content()).not.toContain(VALUE);
    expect(await inMemory(visit, [VALUE, ENCRYPTED])).toEqual([]);
    await toApp(visit);
    await row(visit, 'DB_PASSWORD').getByRole('link', { name: 'DB_PASSWORD in prod' }).click();
    await uses.getByRole('listitem').filter({ hasText: 'SHARED prod /lib' }).waitFor();
    await masked();
    await until('the reads are in the trail', 10_000, async () => (await reads()) === before + 3);
    expect(await reads('secret:list-references')).toBe(opened + 1);
    expect(withValue).toEqual(['SecretValue', 'SecretValue', 'SecretValue']);
    expect(visit.violations).toEqual([]);
  });

  test('tell when a secret is rotated next, to the minute, and why not', async () => {
    const visit = await open(strongroom.url, { timezoneId: 'UTC' });
    const { admin, project, rotated } = world;
    await strongroom.sql(`update secret_rotation set next_rotation_at = now() + interval '40 days' where id = $1`, [
      rotated.id,
    ]);
    const { secrets } = await admin.data(
      `query ($id: ID!) { secrets(projectId: $id, environment: "dev") { nodes { id secretKey } } }`,
      { id: project.id },
    );
    const { id } = secrets.nodes.find(({ secretKey }: { secretKey: string }) => secretKey === 'REPORT_TOKEN');
    await signIn(visit, admin.token as string, `/console/projects/${project.id}/secrets/${id}`);
    const rotation = section(visit, 'Rotation');
    await rotation.getByText(/Next rotation: [A-Z][a-z]{2} \d{1,2}, \d{4}, \d{1,2}:\d{2}:\d{2} [AP]M\./).waitFor();
    await strongroom.sql(
      `update secret_rotation set next_rotation_at = null, pause_reason = 'CREDENTIALS_REJECTED' where id = $1`,
      [rotated.id],
    );
    await signIn(visit, admin.token as string, `/console/projects/${project.id}/secrets/${id}`);
    await rotation.getByText('No rotation is planned. It is paused: credentials rejected.').waitFor();
    await strongroom.sql(`update secret_rotation set pause_reason = null where id = $1`, [rotated.id]);
    expect(visit.violations).toEqual([]);
  });

  test('have a folder and environments in their address, for whoever gets it', async () => {
    const visit = await open(strongroom.url);
    const { page } = visit;
    const { admin, project } = world;
    await signIn(visit, admin.token as string, `/console/projects/${project.id}`);
    await toApp(visit);
    const environments = page.getByRole('toolbar', { name: 'Environments side by side' });
    for (const name of ['Staging', 'The qa', 'The demo']) await environments.getByRole('button', { name }).click();
    const columns = ['Key', 'Status', 'Development', 'Production'];
    const hasColumns = () =>
      until(
        'the columns',
        20_000,
        async () => columns.join() === (await table(visit).getByRole('columnheader').allTextContents()).join(),
      );
    await hasColumns();
    expect(page.url()).toBe(`${strongroom.url}/console/projects/${project.id}?folder=%2Fapp&environments=dev%2Cprod`);
    const other = await open(strongroom.url);
    await signIn(other, admin.token as string, page.url().replace(strongroom.url, ''));
    await row(other, 'DB_PASSWORD').waitFor();
    expect(await table(other).getByRole('columnheader').allTextContents()).toEqual(columns);
    // A secret that is opened from there leads back to there.
    await row(other, 'DB_PASSWORD').getByRole('link', { name: 'DB_PASSWORD in prod' }).click();
    await other.page.getByRole('dialog').waitFor();
    await signIn(visit, admin.token as string, other.page.url().replace(strongroom.url, ''));
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
    await row(visit, 'DB_PASSWORD').waitFor();
    await hasColumns();
    // What an address names may be gone.
    await signIn(visit, admin.token as string, `/console/projects/${project.id}?environments=gone&folder=%2Fgone`);
    await page.getByRole('alert').getByText('The folder does not exist').first().waitFor();
    await toApp(visit);
    expect([...visit.violations, ...other.violations]).toEqual([]);
  });

  test('close a secret without a step that leads back to it', async () => {
    const visit = await open(strongroom.url);
    const { page } = visit;
    const { admin, project } = world;
    await signIn(visit, admin.token as string, '/console/access');
    await page.getByRole('link', { name: 'Projects', exact: true }).click();
    await page.getByRole('searchbox').fill(project.name);
    await page.getByRole('row', { name: project.name }).click();
    await toApp(visit);
    for (const close of ['Escape', 'Close']) {
      await row(visit, 'DB_PASSWORD').getByRole('link', { name: 'DB_PASSWORD in prod' }).click();
      await page.getByRole('dialog').waitFor();
      if (close === 'Escape') {
        await page.keyboard.press('Escape');
        await page.keyboard.press('Escape');
      } else await page.getByRole('button', { name: 'Close' }).click();
      await page.getByRole('dialog').waitFor({ state: 'detached' });
    }
    await row(visit, 'DB_PASSWORD').waitFor();
    await page.goBack();
    await page.getByRole('heading', { name: 'Your projects' }).waitFor();
    await page.goBack();
    await page.getByRole('heading', { name: 'Access' }).waitFor();
    // Forward it is there again, masked.
    for (let steps = 0; steps < 3; steps += 1) await page.goForward();
    await page.getByRole('button', { name: 'Reveal' }).waitFor();
    expect(visit.violations).toEqual([]);
  });

  test('keep the folder when the page is loaded again, and when somebody comes back', async () => {
    const visit = await open(strongroom.url);
    const path = `/console/projects/${world.project.id}`;
    await signIn(visit, world.admin.token as string, path);
    await toApp(visit);
    await row(visit, 'DB_PASSWORD').getByRole('link', { name: 'DB_PASSWORD in prod' }).click();
    await visit.page.getByRole('dialog').waitFor();
    await visit.page.keyboard.press('Escape');
    // A page that is loaded again on its way back to the folder would show the secret.
    await visit.page.getByRole('dialog').waitFor({ state: 'detached' });
    await visit.page.reload();
    await visit.page.getByLabel('Access token').fill(world.admin.token as string);
    await visit.page.getByRole('button', { name: 'Sign in' }).click();
    await row(visit, 'DB_PASSWORD').waitFor();
    await visit.page.getByRole('link', { name: 'Audit', exact: true }).click();
    await visit.page.getByRole('heading', { name: 'Trail' }).waitFor();
    await visit.page.goBack();
    await row(visit, 'DB_PASSWORD').waitFor();
    expect(visit.violations).toEqual([]);
  });

  test('keep the whole key of a row in sight on a phone', async () => {
    const visit = await open(strongroom.url, { viewport: { width: 360, height: 740 } });
    const { admin, project } = world;
    const secretKey = 'PAYMENTS_WEBHOOK_SIGNING';
    const place = { projectId: project.id, environment: 'staging', secretPath: '/app' };
    mustSucceed(await admin.post(`/api/v4/secrets/${secretKey}`, { ...place, secretValue: 'x' }));
    await signIn(visit, admin.token as string, `/console/projects/${project.id}`);
    await toApp(visit);
    const key = row(visit, secretKey).getByRole('rowheader').locator('code');
    const cut = ({ scrollHeight, clientHeight }: { scrollHeight: number; clientHeight: number }) =>
      scrollHeight - clientHeight;
    expect(await key.evaluate(cut)).toBe(0);
    const scrolled = (grid: { scrollLeft: number }) => {
      grid.scrollLeft += 300;
      return grid.scrollLeft;
    };
    expect(await table(visit).evaluate(scrolled)).toBe(300);
    await row(visit, secretKey).getByText('— missing').last().waitFor();
    const [frame, name] = [await table(visit).boundingBox(), await key.boundingBox()];
    expect(name?.x).toBeGreaterThan(frame?.x as number);
    expect(name?.width).toBeGreaterThan(100);
    mustSucceed(await admin.delete(`/api/v4/secrets/${secretKey}`, place));
    expect(visit.violations).toEqual([]);
  });

  test('forget a revealed value with the right to see the secret, and do not show it again with that', async () => {
    const { admin, project, ids } = world;
    const caller = await strongroom.seed.caller(admin, { project: project.id, projectRoles: ['admin'] });
    const visit = await open(strongroom.url);
    const { page } = visit;
    await signIn(visit, caller.token as string, `/console/projects/${project.id}/secrets/${ids.DB_PASSWORD}`);
    await page.getByRole('button', { name: 'Reveal' }).click();
    await page.getByText(VALUE).waitFor();
    const membership = `/api/v2/workspace/${project.id}/identity-memberships/${caller.identityId}`;
    mustSucceed(await admin.delete(membership));
    await page.getByRole('dialog').getByText('does not exist').first().waitFor();
    expect(await page.content()).not.toContain(VALUE);
    mustSucceed(await admin.post(membership, { role: 'admin' }));
    await page.getByRole('button', { name: 'Reveal' }).waitFor();
    expect(await page.content()).not.toContain(VALUE);
  });

  test('say to who may see little what is missing, and offer no value', async () => {
    const visit = await open(strongroom.url);
    const { admin, project } = world;
    const slug = 'looks-only';
    const at = { environment: 'prod' };
    mustSucceed(
      await admin.post(`/api/v1/projects/${project.id}/roles`, {
        ...{ slug, name: slug },
        permissions: [
          { subject: 'environments', action: ['read'] },
          { subject: 'secret-folders', action: ['read'] },
          { subject: 'secrets', action: ['describeSecret'], conditions: at },
        ],
      }),
    );
    const caller = await strongroom.seed.caller(admin, { project: project.id, projectRoles: [slug] });
    await signIn(visit, caller.token as string, `/console/projects/${project.id}`);
    await toApp(visit);
    await row(visit, 'DB_PASSWORD').getByText('Unknown').waitFor();
    expect(await row(visit, 'DB_PASSWORD').getByText('? not visible to you').count()).toBe(4);
    await row(visit, 'DB_PASSWORD').getByRole('link', { name: 'DB_PASSWORD in prod' }).click();
    await section(visit, 'Value').getByText('You cannot read this value').waitFor();
    expect(await visit.page.getByRole('button', { name: 'Reveal' }).count()).toBe(0);
    await section(visit, 'Who can read the value').getByRole('alert').waitFor();
    await visit.picture('console-project-few-rights');
    await signIn(visit, caller.token as string, `/console/projects/${crypto.randomUUID()}`);
    await visit.page.getByRole('alert').waitFor();
    expect(visit.violations).toEqual([]);
  });

  test.each(LOOKS)(
    'are accessible in $colorScheme colours, $width pixels wide',
    async ({ colorScheme, viewport, width }) => {
      const visit = await open(strongroom.url, { colorScheme, viewport });
      const name = (part: string) => `${part}-${colorScheme}-${width}`;
      await signIn(visit, world.admin.token as string, '/console/projects');
      await visit.page.getByText(`${PROJECTS + 1} of ${PROJECTS + 1}`).waitFor();
      await holds(visit, name('list'));
      await visit.page.getByRole('searchbox').fill(world.project.name);
      await visit.page.getByRole('row', { name: world.project.name }).click();
      await toApp(visit);
      await section(visit, 'Folders and imports of /app').getByText('prod /lib').waitFor();
      await holds(visit, name('compare'));
      // By keyboard alone: from the key to the cell of prod, whose link Enter follows.
      await row(visit, 'DB_PASSWORD').getByRole('rowheader').click();
      for (const _ of ['status', 'dev', 'staging', 'prod']) await visit.page.keyboard.press('ArrowRight');
      await visit.page.keyboard.press('Enter');
      await section(visit, 'Versions').getByText('Changed: value').waitFor();
      await section(visit, 'Who can read the value').getByText('through group').waitFor();
      await section(visit, 'What it uses, and what uses it').getByText('imports its folder').waitFor();
      await visit.page.getByRole('button', { name: 'Reveal' }).click();
      await visit.page.getByText(VALUE).waitFor();
      await holds(visit, name('secret'));
      await section(visit, 'Versions').scrollIntoViewIfNeeded();
      await visit.picture(`console-project-${name('history')}`);
      expect(visit.violations).toEqual([]);
    },
  );
});
