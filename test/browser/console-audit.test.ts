import { readFile } from 'node:fs/promises';
import { type Caller, mustSucceed } from '../kit/caller.js';
import { LENIENT, type SharedStrongroom, useSharedStrongroom } from '../kit/strongroom.js';
import { violations } from './accessibility.js';
import { describeInBrowser, type Visit } from './browser.js';

const strongroom: SharedStrongroom = useSharedStrongroom(LENIENT);

async function signIn({ page }: Visit, token: string | null): Promise<void> {
  await page.goto(`${strongroom.url}/console/audit`);
  await page.getByLabel('Access token').fill(String(token));
  await page.getByRole('button', { name: 'Sign in' }).click();
}

const READS = 103;

/** A secret that one machine has read often, and that another one may not read. */
async function seedReads(): Promise<{
  admin: Caller;
  project: { id: string; name: string };
  name: string;
  readerId: string;
  readAgain: () => Promise<unknown>;
  secretId: string;
}> {
  const { admin, project, organization } = await strongroom.seed.project();
  const reader = await strongroom.seed.caller(admin, { project: project.id });
  const other = await strongroom.seed.caller(admin, { project: project.id, projectRoles: ['no-access'] });
  const path = `/api/v4/secrets/DATABASE_URL?projectId=${project.id}&environment=prod`;
  const body = { projectId: project.id, environment: 'prod', secretValue: 'a value' };
  const { secret } = mustSucceed(await admin.post('/api/v4/secrets/DATABASE_URL', body)).body;
  for (let at = 0; at < READS; at += 1) mustSucceed(await reader.get(path));
  expect((await other.get(path)).status).toBe(403);
  const { identity } = await admin.data('query ($id: ID!) { identity(id: $id) { name } }', { id: reader.identityId });
  // Names are not unique.
  const twin = { name: identity.name, organizationId: organization.id, role: 'no-access' };
  mustSucceed(await admin.post('/api/v1/identities', twin));
  const readAgain = async () => mustSucceed(await reader.get(path));
  return { admin, project, name: identity.name, readerId: reader.identityId, readAgain, secretId: secret.id };
}

describeInBrowser('the audit page', (open) => {
  test('finds events, opens one, and shows who read a secret, page by page', async () => {
    const { admin, project, name, readerId, readAgain, secretId } = await seedReads();
    const visit = await open(strongroom.url, { colorScheme: 'light' });
    const { page } = visit;
    await signIn(visit, admin.token);
    const events = page.getByRole('grid', { name: 'Events' });
    await events.getByText('secret:get').first().waitFor();
    await visit.picture('console-audit-light');
    expect(await violations(page)).toEqual([]);
    await page.getByRole('combobox', { name: 'Who' }).fill(name);
    await page.getByRole('option', { name: `${name} (${readerId.slice(0, 8)})` }).click();
    await page.getByRole('textbox', { name: 'Action' }).fill('secret:get');
    await page.getByRole('button', { name: 'Search' }).click();
    await page.getByText('100 events, and there may be more').waitFor();
    await page.getByRole('button', { name: 'Load more' }).click();
    await page.getByText(`${READS} events`, { exact: true }).waitFor();
    // The same again has what happened since.
    await readAgain();
    await page.getByRole('button', { name: 'Search' }).click();
    await page.getByText(`${READS + 1} events`, { exact: true }).waitFor();
    // Only those in sight are in the page.
    expect(await events.getByRole('row').count()).toBeLessThan(40);
    await events.getByRole('row').first().press('Enter');
    const dialog = page.getByRole('dialog', { name: 'secret:get' });
    await dialog.getByText(name).waitFor();
    await dialog.getByRole('link', { name: secretId }).waitFor();
    await visit.picture('console-audit-event');
    expect(await violations(page)).toEqual([]);
    await dialog.getByRole('link', { name: secretId }).click();
    await page.getByRole('heading', { name: 'Reads of DATABASE_URL' }).waitFor();
    await page.getByText('100 events, and there may be more').waitFor();
    expect(await page.getByRole('grid', { name: 'Reads' }).getByRole('row').first().innerText()).toContain(name);
    await page.goBack();
    await page.getByRole('searchbox', { name: 'Key or ID' }).fill('DATA');
    await page.getByRole('button', { name: 'Find' }).click();
    await page.getByRole('grid', { name: 'Secrets' }).getByRole('row', { name: 'DATABASE_URL' }).press('Enter');
    await page.getByRole('heading', { name: 'Reads of DATABASE_URL' }).waitFor();
    await page.getByRole('button', { name: /Outcome$/ }).click();
    await page.getByRole('option', { name: 'Denied' }).click();
    await page.getByRole('button', { name: 'Search' }).click();
    await page.getByText('1 event', { exact: true }).waitFor();
    await events.getByText('Denied:').waitFor();
    expect(project.id).toBeDefined();
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.setViewportSize({ width: 360, height: 740 });
    await visit.picture('console-audit-phone');
    expect(await violations(page)).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
    expect(visit.violations).toEqual([]);
  });

  test('saves the whole trail as a file, with the token in no address', async () => {
    const { admin } = await strongroom.seed.project();
    const visit = await open(strongroom.url);
    const { page } = visit;
    const addresses: string[] = [];
    page.on('request', (request) => addresses.push(request.url()));
    await signIn(visit, admin.token);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export' }).click(),
    ]);
    await page.getByText('The file has all events.').waitFor();
    expect(download.suggestedFilename()).toMatch(/^audit-trail-\d{4}-\d\d-\d\d\.ndjson$/);
    const lines = (await readFile(await download.path(), 'utf8'))
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.map(({ action }) => action)).toContain('project:create');
    expect(lines.at(-1)).toMatchObject({ type: 'cursor', isEnd: true });
    expect(addresses.filter((address) => address.includes(String(admin.token)))).toEqual([]);
    expect(visit.violations).toEqual([]);
  });

  test('says which right is missing', async () => {
    const { admin, project } = await strongroom.seed.project();
    const caller = await strongroom.seed.caller(admin, { project: project.id });
    const visit = await open(strongroom.url);
    const { page } = visit;
    await signIn(visit, caller.token);
    await page.getByText('You do not have the permission READ on AUDIT_LOGS').waitFor();
    // The trail of a project can be read by its members.
    await page.getByRole('button', { name: /Any Project$/ }).click();
    await page.getByRole('option', { name: project.name }).click();
    await page.getByRole('button', { name: 'Search' }).click();
    await page.getByRole('grid', { name: 'Events' }).getByText('project:create').waitFor();
    await visit.picture('console-audit-few');
    expect(await violations(page)).toEqual([]);
    expect(visit.violations).toEqual([]);
  });
});
