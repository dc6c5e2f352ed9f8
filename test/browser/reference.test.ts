import { REFERENCE } from '../kit/reference.js';
import { type SharedStrongroom, useSharedStrongroom } from '../kit/strongroom.js';
import { until } from '../kit/until.js';
import { describeInBrowser, type Visit } from './browser.js';

interface Listed {
  readonly tags: readonly string[];
}

const LIST_PROJECTS = '/docs#tag/projects/GET/api/v1/projects';

describeInBrowser('the API reference', (open) => {
  const strongroom: SharedStrongroom = useSharedStrongroom();

  const tryList = async ({ page }: Visit): Promise<void> => {
    await page.getByRole('button', { name: 'Test Request (get /api/v1/projects)', exact: true }).click();
    await page.getByRole('button', { name: /^Send/ }).first().click();
    await page.getByText('200 OK').first().waitFor();
  };

  test('runs a request with a token, in light colours and in dark ones', async () => {
    const { admin, project } = await strongroom.seed.project();
    const visit = await open(strongroom.url, { colorScheme: 'light' });
    await visit.page.goto(strongroom.url + LIST_PROJECTS);
    await visit.page
      .getByLabel(/Bearer Token/)
      .first()
      .fill(admin.token as string);
    await visit.picture('reference-light');
    await visit.page.emulateMedia({ colorScheme: 'dark' });
    await visit.picture('reference-dark');
    await tryList(visit);
    await visit.page.getByText(project.id).first().waitFor();
    await visit.picture('reference-request-dark');
    await visit.page.emulateMedia({ colorScheme: 'light' });
    await visit.picture('reference-request-light');

    const { local, session, address } = await visit.kept();
    expect(local + session + address).not.toContain(admin.token);
    expect(visit.violations).toEqual([]);
  });

  test('sends of optional parameters those that were filled in, and warns of none that are empty', async () => {
    const visit = await open(strongroom.url);
    await visit.page.goto(strongroom.url + LIST_PROJECTS);
    const asked: string[] = [];
    visit.page.on('request', (request) => asked.push(request.url()));
    const token = visit.page.getByLabel(/Bearer Token/).first();
    await token.fill(strongroom.admin.token as string);
    await tryList(visit);
    expect(asked).toContain(`${strongroom.url}/api/v1/projects`);
    expect(await visit.page.locator('.alert').count()).toBe(0);
    expect(await visit.page.locator('.bar .elsewhere').first().isVisible()).toBe(false);
    await visit.picture('reference-optional');
  });

  test('takes the token of the explorer of the same tab', async () => {
    const visit = await open(strongroom.url);
    await visit.page.goto(`${strongroom.url}/graphql`);
    await visit.page.fill('#token', strongroom.admin.token as string);
    await visit.page.goto(strongroom.url + LIST_PROJECTS);
    await tryList(visit);
    expect(visit.violations).toEqual([]);
  });

  test('lists the operations of a group in the order of the document: current ones first', async () => {
    const visit = await open(strongroom.url);
    await visit.page.goto(strongroom.url + LIST_PROJECTS);
    const ofProjects = Object.entries(REFERENCE.paths as Record<string, Record<string, Listed>>).flatMap(
      ([path, methods]) =>
        Object.entries(methods)
          .filter(([, { tags }]) => tags[0] === 'projects')
          .map(([method]) => `${method.toUpperCase()}${path}`),
    );
    const shown = async (): Promise<string[]> => {
      const links = await visit.page.locator('a[href*="tag/projects/"]').all();
      const addresses = await Promise.all(links.map((link) => link.getAttribute('href')));
      return [...new Set(addresses.map((it) => decodeURIComponent(String(it).split('tag/projects/')[1] as string)))];
    };
    await until('the list of operations', 120_000, async () => (await shown()).length >= ofProjects.length);
    expect(await shown()).toEqual(ofProjects);
  });

  test('names nobody else', async () => {
    const visit = await open(strongroom.url);
    await visit.page.goto(`${strongroom.url}/docs`);
    await visit.page.getByRole('heading', { name: 'Strongroom' }).waitFor();
    expect(await visit.page.title()).toBe('Strongroom · API reference');
    expect(await visit.page.evaluate('document.body.innerText')).not.toMatch(/scalar|ask ai|mcp/i);
  });
});

describeInBrowser('the search', (open) => {
  const strongroom: SharedStrongroom = useSharedStrongroom();

  interface Found {
    readonly title: string;
    readonly marks: readonly string[];
    readonly path: string;
    readonly address: string;
  }
  const foundOn = ({ page }: Visit): Promise<Found[]> =>
    page.evaluate(`[...document.querySelectorAll('#found li')].map((item) => ({
      title: item.querySelector('a').textContent,
      address: item.querySelector('a').getAttribute('href'),
      marks: [...item.querySelectorAll('.kind')].map((mark) => mark.textContent),
      path: item.querySelector('code')?.textContent ?? '',
    }))`);

  test('finds the current operation first, and the deprecated ones last and marked', async () => {
    const visit = await open(strongroom.url);
    // From the field that each page has.
    await visit.page.goto(`${strongroom.url}/docs`);
    await visit.page.getByRole('searchbox').first().fill('list secrets');
    await visit.page.keyboard.press('Enter');
    await visit.page.locator('#found li').first().waitFor();
    expect(visit.page.url()).toBe(`${strongroom.url}/search?q=list%20secrets`);
    const found = await foundOn(visit);
    const isMarked = found.map(({ marks }) => marks.includes('deprecated'));
    expect(found[0]).toMatchObject({ title: 'List secrets', path: 'GET /api/v4/secrets' });
    expect(isMarked.indexOf(true)).toBeGreaterThan(5);
    expect(isMarked.slice(isMarked.indexOf(true)).every(Boolean)).toBe(true);
    expect(found.find(({ path }) => path === 'GET /api/v3/secrets/raw')?.marks).toEqual(['REST', 'deprecated']);
    await visit.picture('search');
    await visit.page.emulateMedia({ colorScheme: 'dark' });
    await visit.picture('search-dark');

    await visit.page.fill('#words', 'xyzzyqwv');
    await visit.page.getByText('Nothing found.').waitFor();
    await visit.page.fill('#words', 'list secrets');
    await visit.page.locator('#found a').first().click();
    await visit.page.getByRole('button', { name: 'Test Request (get /api/v4/secrets)', exact: true }).waitFor();
    expect(visit.violations).toEqual([]);
  });
});

describeInBrowser('the first page', (open) => {
  const strongroom: SharedStrongroom = useSharedStrongroom();

  test('leads to the explorer and to the reference, in light colours and in dark ones', async () => {
    const visit = await open(strongroom.url);
    for (const [name, title] of [
      ['GraphQL explorer', 'Strongroom · GraphQL explorer'],
      ['API reference', 'Strongroom · API reference'],
      ['Guides', 'Strongroom · Strongroom'],
      ['GraphQL by task', 'Strongroom · GraphQL by task'],
    ] as const) {
      await visit.page.goto(strongroom.url);
      for (const colorScheme of ['light', 'dark'] as const) {
        await visit.page.emulateMedia({ colorScheme });
        await visit.picture(`home-${colorScheme}`);
      }
      await visit.page.getByRole('link', { name }).click();
      await visit.page.waitForURL(/\/(graphql|docs|guides)/);
      expect(await visit.page.title()).toBe(title);
    }
    expect(visit.violations).toEqual([]);
  });
});
