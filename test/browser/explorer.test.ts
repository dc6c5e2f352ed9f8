import { mintToken } from '../../src/kernel/crypto/token.js';
import { type Strongroom, useStrongroom } from '../kit/strongroom.js';
import { describeInBrowser, type Visit } from './browser.js';

const ANSWER = '.result-window .view-lines';

async function openExplorer(visit: Visit, { url }: Strongroom, token: string | null): Promise<void> {
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
  const strongroom: Strongroom = useStrongroom();

  test.each(['light', 'dark'] as const)('runs operations with a token, in %s colours', async (colorScheme) => {
    const { admin, project } = await strongroom.seed.project();
    const visit = await open(strongroom.url, { colorScheme });
    await openExplorer(visit, strongroom, admin.token);
    await run(visit, 'Organizations', 'slug');
    await run(visit, 'Projects', project.id);
    await run(visit, 'CreateProject', 'payments');
    await run(visit, 'SearchSecrets', 'nodes');
    await run(visit, 'Projects', 'Payments');
    await visit.picture(`explorer-${colorScheme}`);
    expect(visit.faults).toEqual([]);
  });

  test('shows the documentation of the schema', async () => {
    const visit = await open(strongroom.url);
    await openExplorer(visit, strongroom, null);
    await visit.page.getByRole('button', { name: 'Show Documentation Explorer' }).click();
    await visit.page.getByRole('link', { name: 'Query', exact: true }).click();
    await visit.page.getByRole('link', { name: 'searchSecrets', exact: true }).click();
    await visit.page.getByText('Shared secrets of all projects that you may read in').first().waitFor();
    await visit.picture('explorer-documentation');
    expect(visit.faults).toEqual([]);
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
    await run(visit, 'Organizations', 'slug');

    await visit.page.getByRole('button', { name: 'Forget' }).click();
    expect(await visit.page.inputValue('#token')).toBe('');
    expect((await visit.kept()).session).not.toContain(token);
    expect(visit.faults).toEqual([]);
  });

  test('sends the token to this service alone, and shows why one is refused', async () => {
    const visit = await open(strongroom.url);
    await openExplorer(visit, strongroom, mintToken());
    await run(visit, 'Organizations', 'TOKEN_INVALID');
    // Browsers put every answer of 401 into the console.
    expect(visit.faults.filter((fault) => !fault.includes('401'))).toEqual([]);
  });
});

describeInBrowser('the explorer of a service that does not tell its schema', (open) => {
  const strongroom: Strongroom = useStrongroom({ INTROSPECTION: 'false' });

  test('says so, and runs operations', async () => {
    const visit = await open(strongroom.url);
    await openExplorer(visit, strongroom, strongroom.admin.token);
    await visit.page.getByText('INTROSPECTION=false').waitFor();
    await run(visit, 'Organizations', 'slug');
    await visit.picture('explorer-without-schema');
    expect(visit.faults).toEqual([]);
  });
});
