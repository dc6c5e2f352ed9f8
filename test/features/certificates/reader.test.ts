import { type CertificateFact, CertificateReader } from '../../../src/features/certificates/public.js';
import { mustSucceed } from '../../kit/caller.js';
import { newLeaf, newRoot } from '../../kit/certificates/material.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';
import { CERTIFICATES, importCertificate, makeAuthority, PENDING, seedProject } from './kit.js';

const strongroom = useSharedStrongroom();

test('others read facts of certificates and of authorities, by expiry and in pages', async () => {
  const { admin, project } = await seedProject(strongroom);
  const root = await newRoot();
  const leaf = await newLeaf(root, { lastsDays: 30 });
  const first = await importCertificate(admin, project.id, { certificate: leaf.pem });
  const later = await importCertificate(admin, project.id, {
    certificate: (await newLeaf(root, { lastsDays: 60 })).pem,
  });
  mustSucceed(await admin.post(`${CERTIFICATES}/${later.id}/revoke`, {}));
  const ca = await makeAuthority(admin, project.id, { validDays: 90 });
  await makeAuthority(admin, project.id, PENDING);
  await seedProject(strongroom).then((other) =>
    importCertificate(other.admin, other.project.id, { certificate: leaf.pem }),
  );

  const query = <Row extends object>(text: string, params: unknown[] = []) =>
    strongroom.sql<Row & Record<string, unknown>>(text, params);
  const reader = new CertificateReader();
  const list = (expiresBefore: Date | null, limit = 10, after: CertificateFact | null = null) =>
    reader.list(query as never, { projectId: project.id, expiresBefore, after, limit });
  const facts = await list(null);
  expect(facts.map(({ id }) => id)).toEqual([first.id, later.id, ca.id]);
  expect(facts).toMatchObject([
    { commonName: 'shop.example.com', sans: first.sans, isCa: false, status: 'active', profileSlug: null },
    { status: 'revoked', serialNumber: later.serialNumber, projectId: project.id },
    { commonName: 'Example Root', sans: [], isCa: true, notAfter: new Date(ca.notAfter), status: 'active' },
  ]);
  expect((await list(new Date(later.notAfter))).map(({ id }) => id)).toEqual([first.id]);
  const [, second] = facts;
  expect((await list(null, 1, second ?? null)).map(({ id }) => id)).toEqual([ca.id]);
});
