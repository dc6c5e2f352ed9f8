import { setTimeout as delay } from 'node:timers/promises';
import { mustSucceed } from '../kit/caller.js';
import { type SharedStrongroom, useSharedStrongroom } from '../kit/strongroom.js';
import { until } from '../kit/until.js';
import { violations } from './accessibility.js';
import { describeInBrowser, type Visit } from './browser.js';
import { ReverseProxy } from './reverse-proxy.js';

const strongroom: SharedStrongroom = useSharedStrongroom();
let proxy: ReverseProxy;
beforeEach(async () => {
  proxy = await ReverseProxy.start(strongroom.url);
});
afterEach(() => proxy.stop());

async function signIn({ page }: Visit, token: string | null, path: string): Promise<void> {
  await page.clock.install();
  await page.goto(proxy.url + path);
  await page.getByLabel('Access token').fill(String(token));
  await page.getByRole('button', { name: 'Sign in' }).click();
}

/** Time passes for the page, and what it asks for meanwhile is answered. */
async function pass({ page }: Visit, seconds: number): Promise<void> {
  for (let passed = 0; passed < seconds; passed += 5) {
    await page.clock.runFor(5_000);
    await delay(50);
  }
}

const times = (operation: string) => proxy.asked.filter((each) => each === operation).length;

describeInBrowser('the console, where something between', (open) => {
  test.each([
    { status: 429, says: 'Too many requests.' },
    { status: 502, says: 'The service cannot be reached.' },
  ])('refuses with $status, says so, asks ever less often, and recovers by itself', async ({ status, says }) => {
    const { admin } = await strongroom.seed.organization();
    const visit = await open(proxy.url);
    proxy.refuses = () => [status, { 'retry-after': '30', 'content-type': 'text/html' }, '<html>Later</html>'];
    await signIn(visit, admin.token, '/console');
    await visit.page.getByText(says).first().waitFor();
    await pass(visit, 300);
    for (const operation of ['Changes', 'Overview', 'Ages']) {
      expect(times(operation)).toBeGreaterThan(3);
      expect(times(operation)).toBeLessThan(12);
    }
    proxy.refuses = () => undefined;
    await pass(visit, 70);
    await visit.page.getByText('Nothing needs a person.').waitFor();
    await visit.page.getByText('0 values').waitFor();
    expect(await visit.page.getByRole('alert').count()).toBe(0);
  });

  test('refuses queries alone for a moment, asks again by itself', async () => {
    const { admin } = await strongroom.seed.organization();
    const visit = await open(proxy.url);
    proxy.refuses = (operation) => (operation === 'Changes' ? undefined : [429, {}, '']);
    await signIn(visit, admin.token, '/console');
    await visit.page.getByText('Too many requests.').first().waitFor();
    proxy.refuses = () => undefined;
    await pass(visit, 10);
    await visit.page.getByText('Nothing needs a person.').waitFor();
  });

  test('is away while a dialog is open, keeps the dialog and what is shown', async () => {
    const { admin } = await strongroom.seed.project();
    await strongroom.seed.caller(admin, { tokenAuth: { accessTokenTTL: 3_600 } });
    const visit = await open(proxy.url);
    const { page } = visit;
    await signIn(visit, admin.token, '/console/access');
    await page.getByText('1 token, 0 selected').waitFor();
    await page.getByRole('button', { name: 'Select all' }).click();
    await page.getByRole('button', { name: 'Revoke…' }).click();
    const revoke = page.getByRole('alertdialog').getByRole('button', { name: 'Revoke 1 token' });
    await revoke.waitFor();
    proxy.refuses = () => [502, {}, ''];
    proxy.endStreams();
    await pass(visit, 30);
    await page.getByText('The service cannot be reached.').first().waitFor();
    await page.getByText('what is shown may be old').first().waitFor();
    expect(await revoke.count()).toBe(1);
    proxy.refuses = () => undefined;
    await pass(visit, 70);
    await revoke.click();
    await page.getByText('1 revoked.').waitFor();
  });

  test('holds back what the stream sends, does not believe the silence', async () => {
    const { admin } = await strongroom.seed.project();
    proxy.holdsBack = true;
    const visit = await open(proxy.url);
    await signIn(visit, admin.token, '/console/projects');
    await visit.page.getByText('1 of 1').waitFor();
    await strongroom.seed.projectOf(admin);
    await pass(visit, 50);
    await visit.page.getByText('2 of 2').waitFor();
  });
});

describeInBrowser('the console', (open) => {
  test('asks once when somebody signs in, and again for what has changed since', async () => {
    const { admin, project } = await strongroom.seed.project();
    const visit = await open(proxy.url);
    await signIn(visit, admin.token, '/console');
    await visit.page.getByText('0 values').waitFor();
    await until('a stream is open', 10_000, () => proxy.openStreams === 1);
    await pass(visit, 20);
    expect(proxy.asked.toSorted()).toEqual(['Activity', 'Ages', 'Changes', 'Credentials', 'Overview', 'Schedule']);
    await strongroom.seed.secrets(admin, project, 'dev', 1);
    await pass(visit, 5);
    await until('it asks again', 10_000, () => times('Overview') === 2);
    // A stream that was lost may have missed something.
    proxy.endStreams();
    await pass(visit, 10);
    await until('it asks again', 10_000, () => times('Overview') === 3);
    expect(visit.violations).toEqual([]);
  });

  test('says that its program has not come, and how to get it', async () => {
    const visit = await open(proxy.url);
    const { page } = visit;
    await page.route('**/assets/console/main.js', (route) => route.fulfill({ status: 503 }));
    await page.goto(`${proxy.url}/console/projects?folder=%2Fapp`);
    const again = page.getByRole('link', { name: 'load it again' });
    await again.waitFor();
    expect(await violations(page)).toEqual([]);
    await page.unroute('**/assets/console/main.js');
    await again.click();
    await page.getByLabel('Access token').waitFor();
    expect(page.url()).toBe(`${proxy.url}/console/projects?folder=%2Fapp`);
    expect(await again.count()).toBe(0);
  });

  test('has no connection open while it is hidden, and shows what has changed when it is seen again', async () => {
    const { admin } = await strongroom.seed.project();
    const visit = await open(proxy.url);
    const { page } = visit;
    await signIn(visit, admin.token, '/console/projects');
    await page.getByText('1 of 1').waitFor();
    await until('a stream is open', 10_000, () => proxy.openStreams === 1);
    const isHidden = (value: boolean) =>
      page.evaluate(`Object.defineProperty(document, 'hidden', { value: ${value}, configurable: true });
        document.dispatchEvent(new Event('visibilitychange'))`);
    await isHidden(true);
    await until('no stream is open', 10_000, () => proxy.openStreams === 0);
    await strongroom.seed.projectOf(admin);
    proxy.asked.length = 0;
    await pass(visit, 300);
    expect(proxy.asked).toEqual([]);
    await isHidden(false);
    await pass(visit, 5);
    await page.getByText('2 of 2').waitFor();
    await until('a stream is open', 10_000, () => proxy.openStreams === 1);
    expect(visit.violations).toEqual([]);
  });

  test('reads a list of many pages to its end, however much changes meanwhile', async () => {
    const { admin, project } = await strongroom.seed.project();
    for (const environment of ['dev', 'prod']) await strongroom.seed.secrets(admin, project, environment, 400);
    const visit = await open(proxy.url);
    const { page } = visit;
    await signIn(visit, admin.token, `/console/projects/${project.id}`);
    await page.getByText('All 250+').waitFor();
    await pass(visit, 5);
    const [second, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const firsts: string[] = [];
    await page.route('**/graphql', async (route) => {
      const { operationName, variables } = route.request().postDataJSON();
      if (operationName === 'Comparison' && variables.after === null) firsts.push('asked');
      if (operationName === 'Comparison' && variables.after !== null) {
        second.resolve();
        await released.promise;
      }
      await route.continue().catch(() => undefined);
    });
    await page.getByRole('searchbox', { name: 'Key' }).fill('KEY_00399');
    await second.promise;
    const begun = firsts.length;
    mustSucceed(
      await admin.post('/api/v4/secrets/NEWS', { projectId: project.id, environment: 'dev', secretValue: 'x' }),
    );
    await delay(4_000);
    await pass(visit, 30);
    expect(firsts.length).toBe(begun);
    released.resolve();
    await page.getByText('All 401').waitFor();
  });
});
