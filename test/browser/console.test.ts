import { Caller, mustSucceed } from '../kit/caller.js';
import { LENIENT, type SharedStrongroom, useSharedStrongroom } from '../kit/strongroom.js';
import { until } from '../kit/until.js';
import { violations } from './accessibility.js';
import { describeInBrowser, type Visit } from './browser.js';
import { type Company, seedCompany } from './company.js';

const strongroom: SharedStrongroom = useSharedStrongroom(LENIENT);
let company: Company;
beforeAll(async () => {
  company = await seedCompany(strongroom);
});
afterAll(() => company?.rotating.stop());

async function signIn({ page }: Visit, token: string, path = '/console'): Promise<void> {
  await page.goto(strongroom.url + path);
  await page.getByLabel('Access token').fill(token);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

/** The region of a section, when it has what it asked for. */
const section = (visit: Visit, title: string) =>
  visit.page.getByRole('region', { name: title }).and(visit.page.locator('[aria-busy="false"]'));

const LOOKS = (['light', 'dark'] as const).flatMap((colorScheme) =>
  [360, 1280].map((width) => ({ colorScheme, viewport: { width, height: 900 } })),
);

describeInBrowser('the overview of the console', (open) => {
  test('asks six documents by their IDs, and shows what needs a person and what is coming', async () => {
    const visit = await open(strongroom.url, { colorScheme: 'light' });
    const asked: string[] = [];
    const assets: Promise<number>[] = [];
    visit.page.on('requestfinished', (request) => {
      if (request.url().includes('/assets/'))
        assets.push(request.sizes().then(({ responseBodySize }) => responseBodySize));
    });
    visit.page.on('request', (request) => {
      if (request.method() === 'POST') asked.push(request.postData() ?? '');
    });
    await signIn(visit, company.admin.token as string);
    const attention = section(visit, 'Needs a person');
    await attention.getByText('reporting').waitFor();
    await section(visit, 'Rotations of the next two weeks').getByText('billing').waitFor();
    expect(await section(visit, 'Rotations of the next two weeks').getByText('archive').count()).toBe(0);
    await section(visit, 'Certificates by days left').getByText('269 end within 90 days.').waitFor();
    // Every document by its ID, and none by its text.
    const first = asked.map((text) => JSON.parse(text));
    for (const body of first)
      expect(body).toEqual(expect.objectContaining({ documentId: expect.stringMatching(/^sha256:/) }));
    expect(first.filter(({ query }) => query !== undefined)).toEqual([]);
    const names = new Set(first.map(({ operationName }) => operationName));
    expect([...names].sort()).toEqual(['Activity', 'Ages', 'Changes', 'Credentials', 'Overview', 'Schedule']);
    await section(visit, 'Age of secrets').getByText('5,003 values').waitFor();
    await visit.page.locator('.recharts-surface').first().waitFor();
    const bytes = (await Promise.all(assets)).reduce((sum, size) => sum + size, 0);
    expect(bytes).toBeGreaterThan(100_000);
    expect(bytes).toBeLessThan(400_000);
    expect(visit.violations).toEqual([]);
  });

  test.each(LOOKS)(
    'is accessible in $colorScheme colours, $viewport.width pixels wide',
    async ({ colorScheme, viewport }) => {
      const visit = await open(strongroom.url, { colorScheme, viewport });
      await visit.page.goto(`${strongroom.url}/console`);
      await visit.page.getByLabel('Access token').waitFor();
      expect(await violations(visit.page)).toEqual([]);
      await signIn(visit, company.admin.token as string);
      await section(visit, 'Age of secrets').getByText('5,003 values').waitFor();
      await visit.page.locator('.recharts-surface').first().waitFor();
      await visit.picture(`console-overview-${colorScheme}-${viewport.width}`);
      expect(await violations(visit.page)).toEqual([]);
      expect(await visit.page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0);
      await visit.page.getByRole('button', { name: 'Rotate now: reporting' }).first().click();
      await visit.page.getByRole('alertdialog').waitFor();
      await visit.picture(`console-confirm-${colorScheme}-${viewport.width}`);
      expect(await violations(visit.page)).toEqual([]);
      await visit.page.keyboard.press('Escape');
      await visit.page.getByRole('alertdialog').waitFor({ state: 'detached' });
      expect(visit.violations).toEqual([]);
    },
  );

  test('offers no action to a token that only reads, and shows no more than it may read', async () => {
    const visit = await open(strongroom.url);
    const reader = await strongroom.seed.caller(company.admin, { project: company.rotating.project.id });
    await signIn(visit, reader.token as string);
    await section(visit, 'Needs a person').getByText('reporting').waitFor();
    expect(await visit.page.getByRole('button', { name: 'Rotate now: reporting' }).count()).toBe(0);
    await section(visit, 'Tokens').getByRole('alert').waitFor();
    expect(visit.violations).toEqual([]);
  });

  test('does what is confirmed, and follows what others change', async () => {
    const visit = await open(strongroom.url);
    const { admin, rotating, failedRotation } = company;
    await signIn(visit, admin.token as string);
    const item = section(visit, 'Needs a person').getByRole('listitem').filter({ hasText: 'reporting' });
    await item.getByRole('button', { name: 'Rotate now: reporting' }).click();
    await visit.page.getByRole('alertdialog').getByRole('button', { name: 'Rotate now' }).click();
    await until(
      'the rotation succeeded',
      60_000,
      async () => (await rotating.get(failedRotation.id)).rotationStatus === 'success',
    );
    // It leaves the list by itself, and another one comes.
    await item.waitFor({ state: 'detached' });
    await strongroom.sql(`update secret_rotation set status = 'needs_reconciliation' where id = $1`, [
      failedRotation.id,
    ]);
    mustSucceed(
      await admin.post(`/api/v4/secrets/NEWS`, {
        projectId: rotating.project.id,
        environment: 'dev',
        secretValue: 'x',
      }),
    );
    await item.waitFor();
    expect(visit.violations).toEqual([]);
  });

  test('lets an action be taken again while what it is about is still there', async () => {
    const visit = await open(strongroom.url);
    const { page } = visit;
    const { admin, rotating } = company;
    rotating.fake.fail({ how: 'drop' });
    await strongroom.sql(
      `update app_connection set check_state = 'failing', failing_since = now() - interval '1 day', check_code = 'TARGET_UNREACHABLE' where id = $1`,
      [rotating.connectionId],
    );
    await signIn(visit, admin.token as string);
    const check = section(visit, 'Needs a person').getByRole('button', { name: /^Check: tool-/ });
    const confirm = async () => {
      await check.click();
      await page.getByRole('alertdialog').getByRole('button', { name: 'Check' }).click();
      await page.getByRole('alertdialog').waitFor({ state: 'detached' });
    };
    await confirm();
    await section(visit, 'Needs a person').getByRole('status').filter({ hasText: 'Done' }).waitFor();
    expect(await check.isEnabled()).toBe(true);
    expect(await check.evaluate((button) => button === button.ownerDocument.activeElement)).toBe(true);
    rotating.fake.recover();
    await confirm();
    await check.waitFor({ state: 'detached' });
    expect(visit.violations).toEqual([]);
  });

  test('follows again after the stream of changes has ended', async () => {
    const visit = await open(strongroom.url);
    const { admin, rotating, failedRotation } = company;
    const setStatus = (status: string) =>
      strongroom.sql(`update secret_rotation set status = $2 where id = $1`, [failedRotation.id, status]);
    await setStatus('failed');
    await visit.page.route('**/graphql/stream', (route) => route.abort(), { times: 1 });
    const begun = visit.page.waitForResponse('**/graphql/stream');
    await signIn(visit, admin.token as string);
    const item = section(visit, 'Needs a person').getByRole('listitem').filter({ hasText: 'reporting' });
    await item.waitFor();
    await begun;
    await setStatus('success');
    const secret = { projectId: rotating.project.id, environment: 'dev', secretValue: 'x' };
    mustSucceed(await admin.post('/api/v4/secrets/MORE_NEWS', secret));
    await item.waitFor({ state: 'detached' });
  });

  test('keeps the token in memory alone, and asks for another one when it is refused', async () => {
    const visit = await open(strongroom.url);
    await visit.page.goto(`${strongroom.url}/console`);
    // No browser is to offer to keep it.
    expect(await visit.page.getByLabel('Access token').getAttribute('type')).toBe('password');
    expect(await visit.page.getByLabel('Access token').getAttribute('autocomplete')).toBe('one-time-code');
    await signIn(visit, 'srt_wrong');
    await visit.page.getByText(/token/i).first().waitFor();
    await visit.page.getByRole('button', { name: 'Sign in' }).waitFor();
    const { accessToken } = mustSucceed(
      await company.admin.post(`/api/v1/auth/token-auth/identities/${company.admin.identityId}/tokens`, {}),
    ).body;
    visit.violations.length = 0;
    await signIn(visit, accessToken);
    await section(visit, 'Needs a person').waitFor();
    const { local, session, address } = await visit.kept();
    for (const kept of [local, session, address, await visit.page.title()]) expect(kept).not.toContain('srt_');
    expect(visit.violations).toEqual([]);
    mustSucceed(await new Caller(strongroom.url, accessToken).post('/api/v1/auth/token/revoke', { accessToken }));
    await visit.page.getByRole('button', { name: 'Sign in' }).waitFor();
  });

  test('names each page in its title, and a project by its name', async () => {
    const visit = await open(strongroom.url);
    const { page } = visit;
    const isTitled = (name: string) =>
      until(`the title is ${name}`, 20_000, async () => (await page.title()) === `Strongroom · ${name}`);
    await signIn(visit, company.admin.token as string);
    await isTitled('Overview');
    for (const name of ['Access', 'Certificates', 'Audit', 'Projects']) {
      await page.getByRole('navigation').getByRole('link', { name }).click();
      await isTitled(name);
    }
    const { id, name } = company.rotating.project;
    await page.getByRole('searchbox').fill(name);
    await page.getByRole('row', { name }).click();
    await isTitled(name);
    await page.goBack();
    await isTitled('Projects');
    await page.goForward();
    await isTitled(name);
    expect(page.url()).toContain(id);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await isTitled('Console');
  });

  test.each([
    '/console/nothing',
    '/console/projectsandmore',
    '/console/projects/one/two',
    '/console/access/one/two',
    '/console/certificates/one/two/three',
    '/console/audit/nothing',
  ])('has no page at %s, and says so', async (path) => {
    const visit = await open(strongroom.url);
    const { page } = visit;
    await signIn(visit, company.admin.token as string, path);
    await page.getByRole('heading', { name: 'No such page' }).waitFor();
    expect(await page.title()).toBe('Strongroom · No such page');
    expect(await page.locator('[aria-current]').count()).toBe(0);
    expect(await page.getByRole('region').count()).toBe(0);
    await page.getByRole('main').getByRole('link', { name: 'Overview' }).click();
    await section(visit, 'Needs a person').waitFor();
    expect(visit.violations).toEqual([]);
  });

  test('leads from what needs a person to where more is known of it, and from tokens to where they are revoked', async () => {
    const visit = await open(strongroom.url);
    await signIn(visit, company.admin.token as string);
    const attention = section(visit, 'Needs a person');
    await attention.getByRole('link', { name: 'host-400.example.com' }).click();
    await visit.page.getByRole('region', { name: 'host-400.example.com' }).waitFor();
    await visit.page.goBack();
    await strongroom.sql(`update secret_rotation set status = 'failed' where id = $1`, [company.failedRotation.id]);
    await attention.getByRole('link', { name: 'reporting' }).click();
    await visit.page.getByText('secret-rotation:create').first().waitFor();
    await visit.page.goBack();
    await section(visit, 'Tokens').getByRole('link', { name: 'Look and revoke' }).click();
    await visit.page.getByRole('heading', { name: 'Access' }).waitFor();
    expect(visit.violations).toEqual([]);
  });

  test('tells the counts of a plot in words, and draws none of nothing', async () => {
    const visit = await open(strongroom.url);
    await signIn(visit, company.admin.token as string);
    await visit.page.getByRole('figure', { name: /^Days left 0–6: \d+, 7–13: \d+, .* 84–90: \d+$/ }).waitFor();
    await visit.page.getByRole('figure', { name: /^Last changed within a week: \d+, .* older: \d+$/ }).waitFor();
    const newcomer = await strongroom.seed.caller(company.admin, { organizationRole: 'member' });
    await signIn(visit, newcomer.token as string);
    await section(visit, 'Certificates by days left').getByText('0 end within 90 days.').waitFor();
    await section(visit, 'Age of secrets').getByText('0 values').waitFor();
    expect(await visit.page.getByRole('figure').count()).toBe(0);
    await visit.page.getByRole('link', { name: 'Projects' }).click();
    await visit.page.getByRole('link', { name: 'How to make one' }).waitFor();
    expect(visit.violations).toEqual([]);
  });

  test('breaks no heading of a section letter by letter on a phone', async () => {
    const visit = await open(strongroom.url, { viewport: { width: 360, height: 740 } });
    await signIn(visit, company.admin.token as string, '/console/access');
    const heading = visit.page.getByRole('heading', { name: 'Permissions in a project' });
    // It may be drawn anew between a look for it and one at its size.
    const box = await until('the heading', 60_000, () => heading.boundingBox());
    expect(box.height).toBeLessThan(100);
  });

  test('leads from a number to the query behind it', async () => {
    const visit = await open(strongroom.url);
    await signIn(visit, company.admin.token as string);
    const [explorer] = await Promise.all([
      visit.page.context().waitForEvent('page'),
      section(visit, 'Tokens').getByRole('link', { name: 'Open in explorer' }).click(),
    ]);
    await explorer.locator('.graphiql-query-editor').getByText('Credentials').first().waitFor();
    await explorer.close();
    expect(visit.violations).toEqual([]);
  });
});
