import { type SharedStrongroom, useSharedStrongroom } from '../kit/strongroom.js';
import { controlsWithoutFocus, violations } from './accessibility.js';
import { describeInBrowser, type Visit } from './browser.js';

/** Rules that a program of others breaks in its markup, where styles cannot help. Everything else must hold there too. */
const EXCEPTIONS: Readonly<Record<string, readonly string[]>> = {
  // GraphiQL: a tab is a list item that contains its buttons.
  explorer: ['nested-interactive'],
  // Scalar: copy buttons without a name, names that differ from the text, lists that scroll but cannot be focused.
  reference: ['button-name', 'label-content-name-mismatch', 'scrollable-region-focusable'],
};
const PHONE = { width: 360, height: 740 };
const DESKTOP = { width: 1280, height: 800 };
const OPERATION = '/docs#tag/projects/GET/api/v1/projects';

const serious = async (visit: Visit, program?: string): Promise<unknown> =>
  (await violations(visit.page)).filter(({ rule }) => !EXCEPTIONS[program ?? '']?.includes(rule));

/** Pixels that stand out of the page to the right. */
const overflow = async ({ page }: Visit): Promise<number> =>
  (await page.evaluate('document.documentElement.scrollWidth - innerWidth')) as number;

describeInBrowser('each page', (open) => {
  const strongroom: SharedStrongroom = useSharedStrongroom();
  const looks = (['light', 'dark'] as const).flatMap((colorScheme) =>
    [PHONE, DESKTOP].map((viewport) => ({ colorScheme, viewport, width: viewport.width })),
  );

  test.each(looks)(
    'is accessible in $colorScheme colours, $width pixels wide',
    async ({ colorScheme, viewport, width }) => {
      const visit = await open(strongroom.url, { colorScheme, viewport });
      const { page } = visit;
      const picture = (name: string) => visit.picture(`${name}-${colorScheme}-${width}`);
      const holds = async (name: string, program?: string) => {
        await picture(name);
        expect({ name, serious: await serious(visit, program) }).toEqual({ name, serious: [] });
        expect({ name, overflow: await overflow(visit) }).toEqual({ name, overflow: 0 });
      };
      for (const [name, path] of [
        ['start', '/'],
        ['lost', '/no/such/page'],
        ['guides', '/guides'],
        ['guide', '/guides/operating'],
        ['tasks', '/guides/graphql-by-task'],
        ['operations', '/guides/graphql-operations'],
        ['search', '/search?q=list+secrets'],
      ] as const) {
        await page.goto(strongroom.url + path);
        if (name === 'search') await page.locator('#found li').first().waitFor();
        await holds(name);
      }

      await page.goto(`${strongroom.url}/graphql`);
      await page.waitForSelector('.graphiql-query-editor .view-line');
      await holds('explorer', 'explorer');
      await page.getByRole('button', { name: 'Show Documentation Explorer' }).click();
      await page.getByRole('link', { name: 'Query', exact: true }).click();
      await page.getByRole('link', { name: 'searchSecrets', exact: true }).waitFor();
      await holds('documentation', 'explorer');

      await page.goto(strongroom.url + OPERATION);
      await page.getByRole('button', { name: 'Test Request (get /api/v1/projects)', exact: true }).waitFor();
      await holds('operation', 'reference');
    },
  );

  test('shows where the keyboard is', async () => {
    const visit = await open(strongroom.url, { viewport: DESKTOP });
    const { page } = visit;
    await page.goto(strongroom.url);
    expect(await controlsWithoutFocus(page, 'body')).toEqual([]);
    await page.goto(`${strongroom.url}/guides/secrets`);
    expect(await controlsWithoutFocus(page, 'body')).toEqual([]);
    await page.goto(`${strongroom.url}/graphql`);
    await page.waitForSelector('.graphiql-query-editor .view-line');
    expect(await controlsWithoutFocus(page, 'body')).toEqual([]);
    await page.goto(strongroom.url + OPERATION);
    await page.getByRole('button', { name: 'Test Request (get /api/v1/projects)', exact: true }).waitFor();
    expect(await controlsWithoutFocus(page, 'body')).toEqual([]);
  });

  test('would not if its style did not say so', async () => {
    const visit = await open(strongroom.url);
    await visit.page.goto(strongroom.url);
    await visit.page.addStyleTag({ content: 'a:focus-visible { outline: none !important; }' }).catch(() => undefined);
    await visit.page.evaluate(
      `for (const link of document.querySelectorAll('a')) link.style.setProperty('outline', 'none', 'important')`,
    );
    expect((await controlsWithoutFocus(visit.page, '.ways')).length).toBe(5);
  });
});
