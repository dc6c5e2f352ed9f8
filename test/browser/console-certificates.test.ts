import { issue, makeProfile, renew, SHOP } from '../features/certificates/issuing-kit.js';
import { makeAuthority, ROOT, seedProject } from '../features/certificates/kit.js';
import { type Caller, mustSucceed } from '../kit/caller.js';
import { LENIENT, type SharedStrongroom, useSharedStrongroom } from '../kit/strongroom.js';
import { violations } from './accessibility.js';
import { describeInBrowser, type Visit } from './browser.js';

const strongroom: SharedStrongroom = useSharedStrongroom(LENIENT);

async function signIn({ page }: Visit, token: string | null): Promise<void> {
  await page.goto(`${strongroom.url}/console/certificates`);
  await page.getByLabel('Access token').fill(String(token));
  await page.getByRole('button', { name: 'Sign in' }).click();
}

const INVENTORY = `insert into certificate (id, organization_id, project_id, lineage_id, source, common_name, sans, names_digest, serial_number,
    not_before, not_after, key_algorithm, fingerprint_sha256, certificate, is_ca)
  select gen_random_uuid(), p.organization_id, p.id, gen_random_uuid(), 'imported', 'host-' || n || '.example.com', '{}', decode(md5(n::text), 'hex'),
    n::text, now() - interval '100 days', now() + (n % 400 + 2) * interval '1 day', 'ec-p256', p.id || ' ' || n, '', false
  from project p, generate_series(1, 1500) n where p.id = $1`;

/** A root with an authority below it, a certificate of each, one renewal, and many certificates of others. */
async function seedCertificates(): Promise<{ admin: Caller; project: { id: string; name: string } }> {
  const { admin, project } = await seedProject(strongroom);
  const root = await makeAuthority(admin, project.id);
  const below = await makeAuthority(admin, project.id, {
    name: 'Shops',
    kind: 'intermediate',
    parentId: root.id,
    subject: { commonName: 'Shops' },
  });
  const profile = await makeProfile(admin, { project, root: below });
  await renew(admin, (await issue(admin, profile.id)).id);
  await issue(admin, (await makeProfile(admin, { project, root }, { slug: 'other' })).id, {
    subject: { commonName: 'blog.example.com' },
    sans: [{ kind: 'dns', value: 'blog.example.com' }],
  });
  const alert = { alertBefore: '30d', eventType: 'expiration', projectId: project.id };
  const webhook = { channelType: 'webhook', config: { url: 'https://alerts.example.com/hook' } };
  const blogs = [{ field: 'common_name', operator: 'equals', value: 'blog.example.com' }];
  for (const own of [
    { name: 'all', filters: [], channels: [webhook] },
    { name: 'blogs', filters: blogs, channels: [webhook] },
    { name: 'silent', filters: [], channels: [{ ...webhook, enabled: false }] },
  ])
    mustSucceed(await admin.post('/api/v1/cert-manager/alerts', { ...alert, ...own }));
  await strongroom.sql(INVENTORY, [project.id]);
  return { admin, project };
}

describeInBrowser('the page of certificates', (open) => {
  test('shows authorities, what they issued, renewals, and who was told', async () => {
    const { admin } = await seedCertificates();
    const visit = await open(strongroom.url, { colorScheme: 'light' });
    const { page } = visit;
    await signIn(visit, admin.token);
    const table = page.getByRole('grid', { name: 'Certificates', exact: true });
    await page.getByText('1503 certificates').waitFor();
    expect(await table.getByRole('row').count()).toBeLessThan(40);
    // The one that ends first is first.
    expect((await table.getByRole('row').nth(1).innerText()).replaceAll(/\s+/g, ' ')).toMatch(
      /^host-(400|800|1200).example.com 1 day Active/,
    );
    await visit.picture('console-certificates-light');
    expect(await violations(page)).toEqual([]);
    const tree = page.getByRole('treegrid', { name: 'Authorities' });
    expect(await tree.getByRole('row', { name: ROOT.name }).getAttribute('aria-level')).toBe('1');
    expect(await tree.getByRole('row', { name: 'Shops' }).getAttribute('aria-level')).toBe('2');
    await tree.getByRole('row', { name: 'Shops' }).press('Enter');
    await page.getByText('2 certificates of the selected authority').waitFor();
    expect(
      (await table.getByRole('row').allInnerTexts())
        .slice(1)
        .map((row) => /Active|Renewed/.exec(row)?.[0])
        .sort(),
    ).toEqual(['Active', 'Renewed']);
    await table.getByRole('row').filter({ hasText: 'Renewed' }).press('Enter');
    await page.getByRole('heading', { name: SHOP.subject.commonName }).waitFor();
    await page.getByRole('link', { name: 'the current one' }).waitFor();
    await page.getByText('Not notified: a newer certificate has replaced it.').waitFor();
    await page.getByRole('grid', { name: 'Requests' }).getByText('Renewal: issued').first().waitFor();
    expect(await page.getByRole('button', { name: 'Renew' }).count()).toBe(0);
    await page.getByRole('link', { name: 'the current one' }).click();
    await page.getByText(/It notifies in \d+ months\./).waitFor();
    const told = page.getByRole('region', { name: 'Who was told' }).getByRole('listitem');
    expect((await told.allInnerTexts()).map((text) => text.replaceAll(/\s+/g, ' ')).sort()).toEqual([
      expect.stringMatching(/^all Not yet due\. It notifies in \d+ months\.$/),
      'blogs Not notified: the certificate does not match the filters.',
      'silent Not notified: the alert has no enabled channel.',
    ]);
    await visit.picture('console-certificate-light');
    expect(await violations(page)).toEqual([]);
    await page.getByRole('button', { name: `Renew: ${SHOP.subject.commonName}` }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Renew' }).click();
    await page.getByText('3 certificates of the selected authority').waitFor();
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.setViewportSize({ width: 360, height: 740 });
    await visit.picture('console-certificates-phone');
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
    await page.getByRole('searchbox', { name: 'Name' }).fill('blog');
    await page.getByText('0 certificates').waitFor();
    expect(await violations(page)).toEqual([]);
    expect(visit.violations).toEqual([]);
  });

  test('offers no renewal to who may only read certificates, and says what else it may not see', async () => {
    const { admin, project } = await seedCertificates();
    const caller = await strongroom.seed.caller(admin, { project: project.id });
    const privilege = { projectId: project.id, memberKind: 'IDENTITY', memberId: caller.identityId };
    await admin.data(
      'mutation ($input: CreateAdditionalPrivilegeInput!) { createAdditionalPrivilege(input: $input) { __typename } }',
      { input: { ...privilege, permissions: [{ subject: 'CERTIFICATES', action: ['READ'] }] } },
    );
    const visit = await open(strongroom.url);
    const { page } = visit;
    await signIn(visit, caller.token);
    await page.getByText('You do not have the permission READ on CERTIFICATE_AUTHORITIES in the project.').waitFor();
    await page.getByText('You do not have the permission READ on PKI_ALERTS in the project.').waitFor();
    await page.getByRole('searchbox', { name: 'Name' }).fill('blog');
    await page.getByText('1 certificate,').waitFor();
    await page.getByRole('row', { name: 'blog.example.com' }).press('Enter');
    await page.getByRole('heading', { name: 'blog.example.com' }).waitFor();
    await page.getByText('private key here').waitFor();
    await page.locator('[aria-busy="true"]').first().waitFor({ state: 'detached' });
    await visit.picture('console-certificates-few');
    expect(await page.getByRole('button', { name: 'Renew' }).count()).toBe(0);
    expect(await violations(page)).toEqual([]);
    expect(visit.violations).toEqual([]);
  });

  test('says that there is no project to who is in none', async () => {
    const { admin } = await strongroom.seed.organization();
    const caller = await strongroom.seed.caller(admin);
    const visit = await open(strongroom.url);
    await signIn(visit, caller.token);
    await visit.page.getByText('You see no project for certificates.').waitFor();
    expect(visit.violations).toEqual([]);
  });
});
