import { mintToken } from '../../src/kernel/crypto/token.js';
import { type SecondNode, type SharedStrongroom, useSharedStrongroom } from '../kit/strongroom.js';
import { describeInBrowser, type Visit } from './browser.js';

const strongroom: SharedStrongroom = useSharedStrongroom();
const ANSWER = '.result-window .view-lines';

async function openExplorer(visit: Visit, { url }: { readonly url: string }, token: string | null): Promise<void> {
  await visit.page.goto(`${url}/graphql`);
  await visit.page.waitForSelector('.graphiql-query-editor .view-line');
  if (token !== null) await visit.page.fill('#token', token);
}

/** Runs the tab of this name and waits until its answer shows this. */
async function run({ page }: Visit, tab: string, answer: string): Promise<void> {
  await page.getByRole('button', { name: tab, exact: true }).click();
  await page.getByRole('tab', { name: tab, selected: true }).waitFor();
  await page.getByRole('button', { name: /^Execute query/ }).click();
  await page.locator(ANSWER).getByText(answer).first().waitFor();
}

describeInBrowser('the explorer', (open) => {
  test('runs operations with a token, in light colours and in dark ones', async () => {
    const { admin, project } = await strongroom.seed.project();
    const visit = await open(strongroom.url, { colorScheme: 'light' });
    await openExplorer(visit, strongroom, admin.token);
    await run(visit, 'WhoAmI', 'slug');
    await run(visit, 'Projects', project.id);
    await run(visit, 'CreateProject', 'payments');
    await visit.picture('explorer-light');
    await visit.page.emulateMedia({ colorScheme: 'dark' });
    await run(visit, 'SearchSecrets', 'nodes');
    await run(visit, 'Projects', 'Payments');
    await visit.picture('explorer-dark');
    expect(visit.violations).toEqual([]);
  });

  test('finds nothing wrong with the variables of its examples', async () => {
    const visit = await open(strongroom.url);
    await openExplorer(visit, strongroom, null);
    const marks = visit.page.locator('.graphiql-editors .squiggly-error, .graphiql-editors .squiggly-warning');
    await visit.page.getByRole('button', { name: 'SearchSecrets', exact: true }).click();
    const variables = visit.page.locator('.graphiql-editor-tool .view-line').first();
    await variables.getByText('{').waitFor();
    // A key too many is marked: from then on it is known that variables are checked.
    await variables.click();
    await visit.page.keyboard.press('End');
    await visit.page.keyboard.type('"wrong": 1,');
    await marks.first().waitFor();
    for (const _ of '"wrong": 1,') await visit.page.keyboard.press('Backspace');
    await marks.first().waitFor({ state: 'detached' });
    expect(visit.violations).toEqual([]);
  });

  test('says where a token goes as long as there is none, and begins in its field', async () => {
    const visit = await open(strongroom.url);
    await openExplorer(visit, strongroom, null);
    const hint = visit.page.getByText('Enter your token in the field above.').first();
    await hint.waitFor({ state: 'visible' });
    expect(await visit.page.evaluate('document.activeElement.id')).toBe('token');
    await run(visit, 'WhoAmI', 'TOKEN_MISSING');
    await visit.picture('explorer-without-token');
    await visit.page.fill('#token', strongroom.admin.token as string);
    await hint.waitFor({ state: 'hidden' });
    await run(visit, 'WhoAmI', 'slug');
    await visit.page.getByRole('button', { name: 'Forget' }).click();
    await hint.waitFor({ state: 'visible' });
  });

  test('opens with a task, and the next one in a further tab', async () => {
    const visit = await open(strongroom.url);
    const { page } = visit;
    for (const [title, name, answer] of [
      ['List what needs a person', 'Attention', 'attention'],
      ['List all production secrets', 'ProductionSecrets', 'searchSecrets'],
    ] as const) {
      await page.goto(`${strongroom.url}/guides/graphql-by-task`);
      await page.getByRole('link', { name: `Open in the explorer: ${title}` }).click();
      await page.waitForSelector('.graphiql-query-editor .view-line');
      await page.fill('#token', strongroom.admin.token as string);
      await page.getByRole('tab', { name, selected: true }).waitFor();
      await page.getByRole('button', { name: /^Execute query/ }).click();
      await page.locator(ANSWER).getByText(answer).first().waitFor();
      expect(page.url()).toBe(`${strongroom.url}/graphql`);
    }
    for (const tab of ['Attention', 'WhoAmI', 'SearchSecrets'])
      expect(await page.getByRole('button', { name: tab, exact: true }).count()).toBe(1);
    expect(visit.violations).toEqual([]);
  });

  test('finds operations before types', async () => {
    const visit = await open(strongroom.url);
    const { page } = visit;
    await openExplorer(visit, strongroom, null);
    await page.getByRole('button', { name: 'Show Documentation Explorer' }).click();
    await page.locator('[data-cy="doc-explorer-input"]').fill('secrets');
    await page.locator('[data-cy="doc-explorer-option"]').first().waitFor();
    const found = await page.locator('[data-cy="doc-explorer-option"]').allTextContents();
    const isOperation = found.map((text) => /^(Query|Mutation|Subscription)\./.test(text));
    const operations = isOperation.filter(Boolean).length;
    expect(operations).toBeGreaterThan(10);
    expect(isOperation.slice(0, operations).every(Boolean)).toBe(true);
    expect(found.slice(0, operations)).toEqual(expect.arrayContaining(['Query.secrets', 'Query.searchSecrets']));
    expect(found.slice(operations).some((text) => !text.includes('.'))).toBe(true);
    await visit.picture('explorer-search');
    expect(visit.violations).toEqual([]);
  });

  test('fits a phone: the panes stand below each other, and nothing is cut off', async () => {
    const visit = await open(strongroom.url, { viewport: { width: 390, height: 800 } });
    await openExplorer(visit, strongroom, strongroom.admin.token as string);
    await run(visit, 'WhoAmI', 'slug');
    const box = async (selector: string) => {
      const found = await visit.page.locator(selector).boundingBox();
      return found ?? { x: 0, y: 0, width: 0, height: 0 };
    };
    const [editors, answer] = [await box('.graphiql-editors'), await box('.graphiql-response')];
    expect(answer.y).toBeGreaterThanOrEqual(editors.y + editors.height);
    for (const selector of ['#token', '#forget', '.elsewhere >> nth=2', '.graphiql-response']) {
      const { x, width } = await box(selector);
      expect({ selector, fits: width > 0 && x >= 0 && x + width <= 390 }).toEqual({ selector, fits: true });
    }
    await visit.picture('explorer-phone');
    expect(visit.violations).toEqual([]);
  });

  test('shows the documentation of the schema', async () => {
    const visit = await open(strongroom.url);
    await openExplorer(visit, strongroom, null);
    await visit.page.getByRole('button', { name: 'Show Documentation Explorer' }).click();
    await visit.page.getByRole('link', { name: 'Query', exact: true }).click();
    await visit.page.getByRole('link', { name: 'searchSecrets', exact: true }).click();
    await visit.page.getByText('Searches the shared secrets of all projects').first().waitFor();
    await visit.picture('explorer-documentation');
    expect(visit.violations).toEqual([]);
  });

  test('keeps the token and what was typed in its tab, and never in the address', async () => {
    const visit = await open(strongroom.url);
    const token = strongroom.admin.token as string;
    await openExplorer(visit, strongroom, token);
    await run(visit, 'CreateProject', 'payments');
    expect(await visit.kept()).toEqual({
      local: '{}',
      session: expect.stringContaining(token),
      address: `${strongroom.url}/graphql`,
    });
    await visit.page.reload();
    await run(visit, 'WhoAmI', 'slug');

    await visit.page.getByRole('button', { name: 'Forget' }).click();
    expect(await visit.page.inputValue('#token')).toBe('');
    expect((await visit.kept()).session).not.toContain(token);
    expect(visit.violations).toEqual([]);
  });

  test('sends the token to this service alone, and shows why one is refused', async () => {
    const visit = await open(strongroom.url);
    await openExplorer(visit, strongroom, mintToken());
    await run(visit, 'WhoAmI', 'TOKEN_INVALID');
    // Browsers put every answer of 401 into the console.
    expect(visit.violations.filter((violation) => !violation.includes('401'))).toEqual([]);
  });
});

/** Another node of the installation, with a setting of its own. */
function useNode(env: Readonly<Record<string, string>>): { readonly url: string } {
  const found = { url: '' };
  let node: SecondNode | undefined;
  beforeAll(async () => {
    node = await strongroom.startSecondNode({ env });
    found.url = node.url;
  });
  afterAll(() => node?.stop());
  return found;
}

describeInBrowser('the explorer of a service that does not tell its schema', (open) => {
  const node = useNode({ INTROSPECTION: 'false' });

  test('says so, and runs operations', async () => {
    const visit = await open(node.url);
    await openExplorer(visit, node, strongroom.token);
    await visit.page.getByText('INTROSPECTION=false').waitFor();
    await run(visit, 'WhoAmI', 'slug');
    await visit.picture('explorer-without-schema');
    expect(visit.violations).toEqual([]);
  });
});

describeInBrowser('the explorer of a service that runs registered documents only', (open) => {
  const node = useNode({ PERSISTED_DOCUMENTS_ONLY: 'true' });

  test('says so in place of examples that would fail', async () => {
    const visit = await open(node.url);
    await openExplorer(visit, node, strongroom.token);
    await visit.page.getByText('PERSISTED_DOCUMENTS_ONLY=true').waitFor();
    await visit.page.getByText('Paste a persisted document here.').first().waitFor();
    expect(await visit.page.getByRole('button', { name: 'WhoAmI', exact: true }).count()).toBe(0);
    expect(await visit.page.locator(ANSWER).textContent()).not.toContain('errors');
    await visit.picture('explorer-registered-only');
    expect(visit.violations).toEqual([]);
  });
});
