import type { Locator } from 'playwright-core';
import { issue, makeProfile, SHOP } from '../features/certificates/issuing-kit.js';
import { makeAuthority, seedProject } from '../features/certificates/kit.js';
import { mustSucceed } from '../kit/caller.js';
import { type SharedStrongroom, useSharedStrongroom } from '../kit/strongroom.js';
import { describeInBrowser, type Visit } from './browser.js';

const strongroom: SharedStrongroom = useSharedStrongroom();

/** Everything after it is read from right to left, to the end of its line or of what isolates it. */
const TURNS_LINE = '\u202E';
/** True when the address stands behind the name with this character, in the row of both. Runs in the page. */
const IS_ADDRESS_BEHIND = `(() => {
  const rows = [...document.querySelectorAll('[role="row"]')];
  const texts = document.createTreeWalker(rows.find((row) => row.textContent.includes('${TURNS_LINE}')), NodeFilter.SHOW_TEXT);
  const boxOf = (text) => {
    while (texts.nextNode()) if (texts.currentNode.data.includes(text)) break;
    const range = document.createRange();
    range.selectNodeContents(texts.currentNode);
    return range.getBoundingClientRect();
  };
  return boxOf('${TURNS_LINE}').right <= boxOf('127.0.0.1').left;
})()`;

async function signIn({ page }: Visit, token: string): Promise<void> {
  await page.getByLabel('Access token').fill(token);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

describeInBrowser('the console', (open) => {
  test('keeps a session when a request of the former one is refused late', async () => {
    const { admin } = await strongroom.seed.organization();
    const visit = await open(strongroom.url);
    const { page } = visit;
    const { promise: isSignedIn, resolve: signedIn } = Promise.withResolvers<void>();
    const former = 'srt_former';
    await page.route('**/graphql{,/stream}', async (route) => {
      if ((await route.request().headerValue('authorization')) === `Bearer ${former}`) await isSignedIn;
      // Most requests have been given up when the session has ended.
      await route.continue().catch(() => undefined);
    });
    await page.goto(`${strongroom.url}/console`);
    await signIn(visit, former);
    const ages = page.waitForResponse(
      async (reply) => reply.status() === 401 && String(reply.request().postData()).includes('"Ages"'),
    );
    await page.getByRole('button', { name: 'Sign out' }).click();
    await signIn(visit, admin.token as string);
    await page.getByText('Nothing needs a person.').waitFor();
    signedIn();
    await (await ages).finished();
    await page.getByRole('link', { name: 'Projects', exact: true }).click();
    await page.getByRole('region', { name: 'Your projects' }).waitFor();
  });

  test('stays signed in when the program of a page cannot be loaded', async () => {
    const { admin } = await strongroom.seed.organization();
    const visit = await open(strongroom.url);
    const { page } = visit;
    await page.goto(`${strongroom.url}/console`);
    await signIn(visit, admin.token as string);
    await page.getByText('Nothing needs a person.').waitFor();
    await page.route('**/assets/console/access-*.js', (route) => route.abort());
    await page.getByRole('link', { name: 'Access', exact: true }).click();
    await page.getByRole('alert').getByText('This page cannot be loaded').waitFor();
    await page.getByRole('link', { name: 'Overview', exact: true }).click();
    await page.getByText('Nothing needs a person.').waitFor();
  });

  test('asks for another token when something between refuses it in other words', async () => {
    const { admin } = await strongroom.seed.organization();
    const visit = await open(strongroom.url);
    const { page } = visit;
    await page.goto(`${strongroom.url}/console`);
    await signIn(visit, admin.token as string);
    await page.getByText('Nothing needs a person.').waitFor();
    await page.route('**/graphql', (route) => route.fulfill({ status: 401, body: '<html>Log in to the proxy</html>' }));
    await page.getByRole('link', { name: 'Projects', exact: true }).click();
    await page.getByText('The token was refused.').waitFor();
    await page.getByLabel('Access token').waitFor();
  });

  test('gives up an export that is under way when somebody signs out', async () => {
    const { admin } = await strongroom.seed.organization();
    const visit = await open(strongroom.url);
    const { page } = visit;
    const saved: string[] = [];
    page.on('download', (download) => saved.push(download.suggestedFilename()));
    await page.goto(`${strongroom.url}/console/audit`);
    await signIn(visit, admin.token as string);
    const isHeld = Promise.withResolvers<void>();
    const isGivenUp = page.waitForEvent('requestfailed', (request) => request.url().includes('/export'));
    await page.route('**/audit-events/export*', async (route) => {
      await isHeld.promise;
      await route.continue().catch(() => undefined);
    });
    await page.getByRole('button', { name: 'Export', exact: true }).click();
    await page.getByRole('button', { name: 'Exporting…' }).waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await isGivenUp;
    isHeld.resolve();
    await page.getByLabel('Access token').waitFor();
    expect(saved).toEqual([]);
  });

  test('says nothing of a former failure when the same is asked once more', async () => {
    const { admin } = await strongroom.seed.project();
    await strongroom.seed.caller(admin, { tokenAuth: { accessTokenTTL: 3_600 } });
    const visit = await open(strongroom.url);
    const { page } = visit;
    await page.goto(`${strongroom.url}/console/access`);
    await signIn(visit, admin.token as string);
    await page.getByText('1 token, 0 selected').waitFor();
    await page.getByRole('button', { name: 'Select all' }).click();
    await page.getByRole('button', { name: 'Revoke…' }).click();
    const dialog = page.getByRole('alertdialog', { name: 'Revoke 1 token?' });
    await dialog.waitFor();
    await page.route('**/graphql', (route) => route.abort());
    await dialog.getByRole('button', { name: 'Revoke 1 token' }).click();
    await dialog.getByText('The service cannot be reached').waitFor();
    await page.unroute('**/graphql');
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'Revoke…' }).click();
    await dialog.waitFor();
    expect(await dialog.getByRole('alert').count()).toBe(0);
    await dialog.getByRole('button', { name: 'Revoke 1 token' }).click();
    await page.getByText('1 revoked.').waitFor();
  });

  test('revokes what the confirmation lists, and no token that was made since', async () => {
    const { admin } = await strongroom.seed.project();
    const { identityId } = await strongroom.seed.caller(admin, { tokenAuth: { accessTokenTTL: 3_600 } });
    const visit = await open(strongroom.url);
    const { page } = visit;
    await page.goto(`${strongroom.url}/console/access`);
    await signIn(visit, admin.token as string);
    await page.getByText('1 token, 0 selected').waitFor();
    await page.getByRole('button', { name: 'Select all' }).click();
    await page.getByText('1 token, 1 selected').waitFor();
    await page.getByRole('button', { name: 'Revoke…' }).click();
    const dialog = page.getByRole('alertdialog', { name: 'Revoke 1 token?' });
    await dialog.waitFor();
    mustSucceed(await admin.post(`/api/v1/auth/token-auth/identities/${identityId}/tokens`, { name: 'since' }));
    await page.getByText('2 tokens, 2 selected').waitFor();
    await dialog.getByRole('button', { name: 'Revoke 1 token' }).click();
    await page.getByText('1 revoked.').waitFor();
    const { accessTokens } = await admin.data('{ accessTokens { nodes { name } } }');
    expect(accessTokens.nodes.map(({ name }: { name: string }) => name)).toContain('since');
    expect(visit.violations).toEqual([]);
  });

  test('shows what others wrote as text, and nothing of it in the place of facts', async () => {
    const { admin, project } = await strongroom.seed.project();
    const color = 'url(https://evil.example/x.png)';
    const tag = mustSucceed(await admin.post(`/api/v1/projects/${project.id}/tags`, { slug: 'paint', color })).body.tag;
    const secret = mustSucceed(
      await admin.post('/api/v4/secrets/PAINTED', {
        projectId: project.id,
        environment: 'dev',
        secretValue: 'x',
        secretComment: '<img src=x onerror=alert(1)>',
        tagIds: [tag.id],
      }),
    ).body.secret;
    const visit = await open(strongroom.url);
    const { page } = visit;
    await page.goto(`${strongroom.url}/console/projects/${project.id}/secrets/${secret.id}`);
    await signIn(visit, admin.token as string);
    await page.getByText('<img src=x onerror=alert(1)>').waitFor();
    await page.getByText('paint', { exact: true }).waitFor();
    const { admin: issuer, project: shop } = await seedProject(strongroom);
    const profile = await makeProfile(issuer, { project: shop, root: await makeAuthority(issuer, shop.id) });
    const metadata = [{ key: 'SHA-256', value: 'not the fingerprint' }];
    const { id, fingerprintSha256 } = await issue(issuer, profile.id, { ...SHOP, metadata });
    await page.goto(`${strongroom.url}/console/certificates/${shop.id}/${id}`);
    await signIn(visit, issuer.token as string);
    await page.getByText('not the fingerprint').waitFor();
    await page.getByText(fingerprintSha256).waitFor();
    expect(visit.violations).toEqual([]);
  });

  test('keeps the order of a line, whatever direction the names in it ask for', async () => {
    const { admin } = await strongroom.seed.project();
    mustSucceed(await admin.post('/api/v1/projects', { projectName: `turns ${TURNS_LINE} around` }));
    const visit = await open(strongroom.url);
    const { page } = visit;
    await page.goto(`${strongroom.url}/console/audit`);
    await signIn(visit, admin.token as string);
    await page.getByRole('row').filter({ hasText: TURNS_LINE }).first().waitFor();
    expect(await page.evaluate(IS_ADDRESS_BEHIND)).toBe(true);
    expect(visit.violations).toEqual([]);
  });

  test('keeps the focus where it is while what was chosen or typed is looked for', async () => {
    const { admin, project } = await seedProject(strongroom);
    const profile = await makeProfile(admin, { project, root: await makeAuthority(admin, project.id) });
    await issue(admin, profile.id, SHOP);
    const visit = await open(strongroom.url);
    const { page } = visit;
    await page.goto(`${strongroom.url}/console/certificates/${project.id}`);
    await signIn(visit, admin.token as string);
    await page.getByText('1 certificate,').waitFor();
    await page.getByRole('searchbox', { name: 'Name' }).pressSequentially('no');
    await page.getByText('0 certificates').waitFor();
    await page.keyboard.type('thing');
    expect(await page.getByRole('searchbox', { name: 'Name' }).inputValue()).toBe('nothing');
    await page.getByRole('link', { name: 'Access', exact: true }).click();
    await page.getByText('0 tokens, 0 selected').waitFor();
    await page.getByRole('button', { name: /Which$/ }).press('Enter');
    await page.getByRole('option', { name: 'All', exact: true }).press('Enter');
    await page.getByText('1 token, 0 selected').waitFor();
    expect(await page.evaluate('document.activeElement.innerText')).toContain('All');
    expect(visit.violations).toEqual([]);
  });

  test('fits a phone, however long the name of a project is', async () => {
    const { admin, project } = await strongroom.seed.project();
    const name = 'W'.repeat(60);
    mustSucceed(await admin.patch(`/api/v1/projects/${project.id}`, { name }));
    const visit = await open(strongroom.url, { viewport: { width: 360, height: 800 } });
    const { page } = visit;
    await page.goto(`${strongroom.url}/console/projects/${project.id}`);
    await signIn(visit, admin.token as string);
    await page.getByRole('heading', { name }).waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0);
    expect(visit.violations).toEqual([]);
  });

  test.each([360, 640, 1280])('fits %d pixels, however long the names in a project are', async (width) => {
    const { admin, project } = await strongroom.seed.project();
    const path = `/api/v1/projects/${project.id}`;
    mustSucceed(await admin.patch(path, { description: 'W'.repeat(200) }));
    const name = 'W'.repeat(64);
    mustSucceed(await admin.post(`${path}/environments`, { name, slug: 'w'.repeat(64) }));
    const folder = { projectId: project.id, environment: 'dev', path: '/', name: 'W'.repeat(255) };
    mustSucceed(await admin.post('/api/v2/folders', folder));
    await strongroom.seed.secrets(admin, project, 'dev', 1);
    const visit = await open(strongroom.url, { viewport: { width, height: 800 } });
    const { page } = visit;
    await page.goto(`${strongroom.url}/console/projects/${project.id}`);
    await signIn(visit, admin.token as string);
    await page.getByRole('button', { name: `${folder.name}/` }).waitFor();
    await visit.picture(`console-long-names-${width}`);
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0);
    const heading = page.getByRole('columnheader', { name });
    if (await heading.count()) expect((await heading.innerText()).split('\n')).toHaveLength(1);
    expect(visit.violations).toEqual([]);
  });

  test('shows what is chosen where the system chooses the colours', async () => {
    const { admin, project } = await strongroom.seed.project();
    await strongroom.seed.secrets(admin, project, 'dev', 1);
    const visit = await open(strongroom.url, { forcedColors: 'active' });
    const { page } = visit;
    await page.goto(`${strongroom.url}/console/projects/${project.id}`);
    await signIn(visit, admin.token as string);
    await page.getByRole('button', { name: 'Staging' }).click();
    await page.getByRole('button', { name: 'Staging', pressed: false }).waitFor();
    const looks = (part: Locator) =>
      part.evaluate((each) => {
        const { backgroundColor, borderInlineStartWidth } = each.ownerDocument.defaultView.getComputedStyle(each);
        return { backgroundColor, borderInlineStartWidth };
      });
    await page.mouse.move(0, 0);
    const [left, chosen] = ['Staging', 'Production'].map((name) => looks(page.getByRole('button', { name })));
    expect((await left)?.backgroundColor).not.toBe((await chosen)?.backgroundColor);
    const row = page.getByRole('treegrid', { name: 'Folders' }).getByRole('row', { name: 'All secrets' });
    expect((await looks(row)).borderInlineStartWidth).toBe('6px');
    await visit.picture('console-forced-colours');
    expect(visit.violations).toEqual([]);
  });
});

describeInBrowser('the explorer, from a link', (open) => {
  test.each([
    'document=__proto__',
    'document=constructor',
    'document=Overview&variables={',
    'document=Overview&variables=%ff',
    'document=Overview&variables=null',
    'document=rotateSecrets&variables={"input":{"ids":[]}}',
  ])('opens, and runs nothing by itself: #%s', async (hash) => {
    const visit = await open(strongroom.url);
    const mutations: string[] = [];
    visit.page.on('request', (request) => {
      const text = request.postData() ?? '';
      if (text.includes('mutation ')) mutations.push(text);
    });
    await visit.page.goto(`${strongroom.url}/graphql#${hash}`);
    await visit.page.waitForSelector('.graphiql-query-editor .view-line');
    expect(visit.page.url()).toBe(`${strongroom.url}/graphql`);
    expect({ mutations, violations: visit.violations }).toEqual({ mutations: [], violations: [] });
  });
});
