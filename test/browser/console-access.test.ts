import { makeClient, makeToken } from '../features/access/scenario.js';
import { type Caller, mustSucceed } from '../kit/caller.js';
import type { SeededProject } from '../kit/seed.js';
import { type SharedStrongroom, useSharedStrongroom } from '../kit/strongroom.js';
import { violations } from './accessibility.js';
import { describeInBrowser, type Visit } from './browser.js';

const strongroom: SharedStrongroom = useSharedStrongroom();

async function signIn({ page }: Visit, token: string | null): Promise<void> {
  await page.goto(`${strongroom.url}/console/access`);
  await page.getByLabel('Access token').fill(String(token));
  await page.getByRole('button', { name: 'Sign in' }).click();
}

/** A machine with a role, a privilege, a group, a membership of all projects, and a refused login. */
async function seedMachine(): Promise<{ admin: Caller; project: SeededProject; group: { name: string } }> {
  const { admin, project } = await strongroom.seed.project();
  const { identityId, logIn } = await makeClient(admin);
  const group = await strongroom.seed.group(admin, { identityId });
  const member = { memberKind: 'IDENTITY', memberId: identityId };
  const make = (field: string, input: object) =>
    admin.data(
      `mutation ($input: ${field[0]?.toUpperCase()}${field.slice(1)}Input!) { ${field}(input: $input) { __typename } }`,
      { input },
    );
  await make('addProjectMember', {
    projectId: project.id,
    ...member,
    roleAssignments: [{ roleSlug: 'viewer', range: '2h', startsAt: new Date().toISOString() }],
  });
  await make('addProjectMember', { projectId: project.id, memberKind: 'GROUP', memberId: group.id, roles: ['member'] });
  await make('createAdditionalPrivilege', {
    ...member,
    projectId: project.id,
    slug: 'reads-prod',
    permissions: [{ subject: 'SECRETS', action: ['READ_VALUE'], conditions: { environment: { is: 'prod' } } }],
  });
  await make('createAllProjectsMembership', { ...member, roleSlug: 'viewer', endsAt: '2090-01-01T00:00:00Z' });
  expect((await logIn({ clientSecret: 'wrong' })).status).toBe(401);
  mustSucceed(await logIn());
  return { admin, project, group };
}

describeInBrowser('the access page', (open) => {
  test('shows what a machine may do, through what and until when, and its refused logins', async () => {
    const { admin, project, group } = await seedMachine();
    await Promise.all(Array.from({ length: 60 }, () => strongroom.seed.group(admin)));
    const visit = await open(strongroom.url, { colorScheme: 'light' });
    const { page } = visit;
    await signIn(visit, admin.token);
    const found = page.getByRole('grid', { name: 'People, machines and groups' }).getByRole('row');
    await page.getByText('63 found').waitFor();
    // Only those in sight are in the page.
    expect(await found.count()).toBeLessThan(30);
    await page.getByRole('searchbox', { name: 'Name' }).fill('BOT');
    await page.getByText('1 found').waitFor();
    await page.getByRole('row', { name: 'bot' }).press('Enter');
    await page.getByRole('heading', { name: 'bot' }).waitFor();
    const grants = page.getByRole('grid', { name: 'Roles and privileges in projects' });
    await grants.getByText(`Group ${group.name}`).waitFor();
    const rows = (await grants.getByRole('row').allInnerTexts()).map((row) => row.replaceAll(/\s+/g, ' '));
    expect(rows.slice(1)).toEqual([
      expect.stringMatching(/^All projects Role viewer Membership of all projects .* in 6\d years$/),
      expect.stringMatching(`^${project.name} Role viewer Itself .* in 2 hours$`),
      expect.stringMatching(`^${project.name} Privilege reads-prod Itself .* no end$`),
      expect.stringMatching(`^${project.name} Role member Group ${group.name} .* no end$`),
    ]);
    const logins = page.getByRole('grid', { name: 'Logins of the machine' });
    expect((await logins.getByRole('row').allInnerTexts()).map((row) => row.replaceAll(/\s+/g, ' '))).toEqual([
      expect.stringMatching(/^Logged in this minute/),
      expect.stringMatching(/^Refused this minute Reason: /),
    ]);
    await page.getByRole('button', { name: /Project$/ }).click();
    await page.getByRole('option', { name: project.name }).click();
    await page.getByText('May read value where environment is prod').waitFor();
    await page.getByText('privilege reads-prod', { exact: true }).waitFor();
    await visit.picture('console-access-light');
    expect(await violations(page)).toEqual([]);
    await page.emulateMedia({ colorScheme: 'dark' });
    await visit.picture('console-access-dark');
    expect(await violations(page)).toEqual([]);
    await page.setViewportSize({ width: 360, height: 740 });
    await visit.picture('console-access-phone');
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
    expect(visit.violations).toEqual([]);
  });

  test('revokes many tokens, and shows before which end with them', async () => {
    const { admin } = await strongroom.seed.organization();
    const caller = await strongroom.seed.caller(admin, {
      organizationRole: 'admin',
      tokenAuth: { accessTokenTTL: 3_600 },
    });
    await makeToken(caller, caller.identityId, { name: 'made by the unnamed' });
    for (const name of ['first', 'second']) await makeToken(admin, caller.identityId, { name });
    const visit = await open(strongroom.url);
    const { page } = visit;
    await signIn(visit, admin.token);
    await page.getByText('4 tokens, 0 selected').waitFor();
    await page.getByRole('row', { name: 'first of' }).press('Space');
    await page.getByText('4 tokens, 1 selected').waitFor();
    await page.getByRole('row', { name: 'Token without a name of' }).locator('.check').click();
    await page.getByText('4 tokens, 2 selected').waitFor();
    await page.getByRole('button', { name: 'Revoke…' }).click();
    const dialog = page.getByRole('alertdialog', { name: 'Revoke 3 tokens?' });
    await dialog.waitFor();
    await dialog.getByText('You selected 2; 1 more was made by them').waitFor();
    expect(await dialog.getByRole('listitem').allInnerTexts()).toEqual([
      expect.stringMatching(/^first of identity-/),
      expect.stringMatching(/^Token without a name of identity-/),
      expect.stringMatching(/^made by the unnamed of identity-/),
    ]);
    const left = async () =>
      (await admin.data('{ accessTokens { nodes { name } } }')).accessTokens.nodes.map(
        ({ name }: { name: string }) => name,
      );
    expect(await left()).toContain('first');
    await visit.picture('console-access-revoke');
    expect(await violations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Revoke 3 tokens' }).click();
    await page.getByText('3 revoked.').waitFor();
    await page.getByText('1 token, 0 selected').waitFor();
    expect(await left()).not.toContain('first');
    expect(await left()).toContain('second');
    // The token of the session is not offered: nobody locks themselves out.
    await page.getByRole('button', { name: /Which$/ }).click();
    await page.getByRole('option', { name: 'All', exact: true }).click();
    await page.getByRole('button', { name: 'Select all' }).click();
    await page.getByText('2 tokens, 1 selected').waitFor();
    expect(visit.violations).toEqual([]);
  });

  test('offers no revocation to who may only read tokens', async () => {
    const { admin } = await strongroom.seed.organization();
    const permissions = [
      { subject: 'IDENTITY', action: ['READ', 'GET_TOKEN'] },
      { subject: 'MEMBER', action: ['READ'] },
    ];
    const role =
      'mutation ($input: CreateOrganizationRoleInput!) { createOrganizationRole(input: $input) { __typename } }';
    await admin.data(role, { input: { slug: 'reader', name: 'Reader', permissions } });
    const caller = await strongroom.seed.caller(admin, { tokenAuth: { accessTokenTTL: 3_600 } });
    mustSucceed(await admin.patch(`/api/v1/identities/${caller.identityId}`, { role: 'reader' }));
    const visit = await open(strongroom.url);
    const { page } = visit;
    await signIn(visit, caller.token);
    await page.getByText('1 token', { exact: true }).waitFor();
    await page.getByRole('row', { name: 'Token without a name of' }).waitFor();
    expect(await page.getByRole('button', { name: 'Revoke…' }).count()).toBe(0);
    expect(await page.getByRole('checkbox').count()).toBe(0);
    expect(await violations(page)).toEqual([]);
    expect(visit.violations).toEqual([]);
  });

  test('shows somebody with few rights its own access, and says what it may not see', async () => {
    const { admin, project } = await strongroom.seed.project();
    const caller = await strongroom.seed.caller(admin, { project: project.id });
    const visit = await open(strongroom.url);
    const { page } = visit;
    await signIn(visit, caller.token);
    await page.getByText('This is you.').waitFor();
    await page.getByRole('button', { name: /Project$/ }).click();
    await page.getByRole('option', { name: project.name }).click();
    await page.getByText('role viewer').first().waitFor();
    await page.getByText('You do not have the permission READ on MEMBER in the organization.').waitFor();
    await page.getByText('You do not have the permission GET_TOKEN on IDENTITY in the organization.').waitFor();
    expect(await page.getByRole('button', { name: 'Revoke…' }).count()).toBe(0);
    await visit.picture('console-access-few');
    expect(await violations(page)).toEqual([]);
    expect(visit.violations).toEqual([]);
  });
});
