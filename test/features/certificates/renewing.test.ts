import { createPublicKey } from 'node:crypto';
import { mustSucceed } from '../../kit/caller.js';
import { newLeaf, newRoot } from '../../kit/certificates/material.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';
import {
  contentOf,
  issue,
  lifeOf,
  newCsr,
  PROFILES,
  pathsOf,
  renew,
  requestsOf,
  SHOP,
  seedProfile,
} from './issuing-kit.js';
import { CERTIFICATES, importCertificate } from './kit.js';

const strongroom = useSharedStrongroom();

describe('renewing a certificate', () => {
  test('carries on names, life, metadata and lineage, and leaves the old one valid', async () => {
    const { admin, project, profile } = await seedProfile(strongroom);
    const metadata = [{ key: 'team', value: 'shop' }];
    const first = await issue(admin, profile.id, { ...SHOP, validDays: 13, metadata, renewBeforeDays: 2 });
    const changed = mustSucceed(
      await admin.patch(`${CERTIFICATES}/${first.id}`, { metadata: [...metadata, { key: 'b', value: '' }] }),
    );
    const second = await renew(admin, first.id);
    expect(second).toMatchObject({
      ...{ lineageId: first.id, renewedFromId: first.id, commonName: first.commonName, sans: first.sans },
      ...{
        metadata: changed.body.certificate.metadata,
        renewBeforeDays: 2,
        profileId: profile.id,
        hasPrivateKey: true,
        version: 1,
      },
    });
    expect(lifeOf(second)).toBe(13);
    // The clocks of those who check it may be behind.
    const age = (Date.parse(second.createdAt) - Date.parse(second.notBefore)) / 1_000;
    expect(Math.floor(age)).toBe(30);
    const third = await renew(admin, second.id, { validDays: 3, keyAlgorithm: 'ed25519' });
    expect([third.keyAlgorithm, lifeOf(third), third.lineageId]).toEqual(['ed25519', 3, first.id]);
    const old = mustSucceed(await admin.get(`${CERTIFICATES}/${first.id}`)).body.certificate;
    expect(old).toMatchObject({ status: 'active', version: 3 });
    expect(await admin.post(`${CERTIFICATES}/${first.id}/renew`, {})).toBeError(409, 'CERTIFICATE_RENEWED');
    const list = `${CERTIFICATES}?projectId=${project.id}&metadata=`;
    const found = async (entry: string) => mustSucceed(await admin.get(list + entry)).body.certificates.length;
    expect([await found('team=shop'), await found('team=other'), await found('b=')]).toEqual([3, 0, 3]);
    const shown = (
      await admin.data(
        `query ($id: ID!) { project(id: $id) { certificates { nodes { id authority { name } profile { slug authority { id } }
          renewedFrom { id } renewedBy { id } renewals { id } currentCertificate { id } } } } }`,
        { id: project.id },
      )
    ).project.certificates.nodes;
    const ids = [first, second, third].map(({ id }) => id);
    const lineage = ids.map((id) => shown.find((one: { id: string }) => one.id === id));
    expect(lineage.map(({ renewals }) => renewals.map(({ id }: { id: string }) => id))).toEqual([
      ids.slice(1),
      ids.slice(2),
      [],
    ]);
    expect(lineage.map(({ renewedBy }) => renewedBy?.id)).toEqual([ids[1], ids[2], undefined]);
    expect(lineage.map(({ currentCertificate }) => currentCertificate.id)).toEqual([ids[2], ids[2], ids[2]]);
    expect(lineage[0]).toMatchObject({ profile: { slug: 'web' }, authority: { name: 'Root' }, renewedFrom: null });
    const current = `query ($id: ID!) { currentCertificate(lineageId: $id) { id } }`;
    expect((await admin.data(current, { id: first.id })).currentCertificate.id).toBe(third.id);
    mustSucceed(await admin.post(`${CERTIFICATES}/${third.id}/revoke`, {}));
    expect((await admin.data(current, { id: first.id })).currentCertificate.id).toBe(second.id);
  });

  test('makes the renewal the current one when both begin at the same moment, and it ends earlier', async () => {
    const { admin, profile } = await seedProfile(strongroom);
    const first = await issue(admin, profile.id, { ...SHOP, validDays: 13 });
    const second = await renew(admin, first.id, { validDays: 3 });
    await strongroom.sql(
      `update certificate n set not_before = o.not_before, created_at = o.created_at
       from certificate o where n.id = $1 and o.id = $2`,
      [second.id, first.id],
    );
    const current = `query ($id: ID!) { currentCertificate(lineageId: $id) { id } }`;
    expect((await admin.data(current, { id: first.id })).currentCertificate.id).toBe(second.id);
  });

  test('takes the same number of statements whatever the number of certificates', async () => {
    const { admin, project, profile } = await seedProfile(strongroom);
    const document = `query ($id: ID!) { project(id: $id) { certificates { nodes { authority { id } profile { id } renewedFrom { id }
      renewedBy { id } renewals { id } currentCertificate { id } } } } }`;
    await renew(admin, (await issue(admin, profile.id)).id);
    await admin.data(document, { id: project.id });
    const few = (await strongroom.statements(() => admin.data(document, { id: project.id }))).count;
    for (let at = 0; at < 4; at += 1) await renew(admin, (await issue(admin, profile.id)).id);
    expect((await strongroom.statements(() => admin.data(document, { id: project.id }))).count).toBe(few);
  });

  test('by a request takes its key alone: other names are refused, and absent ones stay', async () => {
    const { admin, profile } = await seedProfile(strongroom);
    const first = await issue(admin, profile.id);
    const path = `${CERTIFICATES}/${first.id}/renew`;
    const other = await newCsr({ name: 'CN=other.example.com', sans: [{ type: 'dns', value: 'other.example.com' }] });
    const refused = await admin.post(path, { csr: other.csr });
    expect(refused).toBeError(422, 'VALIDATION_FAILED');
    expect(refused.body.details.map(({ message }: { message: string }) => message)).toEqual([
      'subject: must equal that of the certificate, or be empty',
      'sans: must equal those of the certificate, or be absent',
    ]);
    expect(pathsOf(await admin.post(path, { csr: other.csr, key: 'same' }))).toEqual(['body.key']);
    const { csr, pair } = await newCsr({ name: '', sans: [] });
    const second = await renew(admin, first.id, { csr });
    expect(second).toMatchObject({ commonName: 'shop.example.com', sans: ['shop.example.com'], hasPrivateKey: false });
    // Without a word about the key one that is not here stays.
    const third = await renew(admin, second.id);
    const pem = (await contentOf(admin, third.id)).certificate as string;
    expect(createPublicKey(pem).equals(pair.publicKey)).toBe(true);
  });

  test('of a revoked one needs another key, of an imported one a profile, and follows the profile as it is now', async () => {
    const { admin, project, profile } = await seedProfile(strongroom);
    const first = await issue(admin, profile.id);
    mustSucceed(await admin.post(`${CERTIFICATES}/${first.id}/revoke`, { reason: 'keyCompromise' }));
    const path = `${CERTIFICATES}/${first.id}/renew`;
    expect(await admin.post(path, { key: 'same' })).toBeError(409, 'CERTIFICATE_REVOKED');
    const second = await renew(admin, first.id);
    expect(second.status).toBe('active');
    const leaf = await newLeaf(await newRoot());
    const imported = await importCertificate(admin, project.id, { certificate: leaf.pem });
    expect(await admin.post(`${CERTIFICATES}/${imported.id}/renew`, {})).toBeError(409, 'CERTIFICATE_WITHOUT_PROFILE');
    const ours = await renew(admin, imported.id, { profileId: profile.id });
    expect(ours).toMatchObject({ source: 'issued', lineageId: imported.id, sans: imported.sans, profileSlug: 'web' });
    mustSucceed(await admin.patch(`${PROFILES}/${profile.id}`, { sans: [{ kind: 'ip' }] }));
    const refused = await admin.post(`${CERTIFICATES}/${second.id}/renew`, {});
    expect(refused).toBeError(422, 'VALIDATION_FAILED');
    expect(refused.body.details).toMatchObject([{ path: 'params.certificateId' }]);
    const [kept] = await requestsOf(admin, project.id, `&certificateId=${second.id}&state=failed`);
    expect(kept).toMatchObject({ kind: 'renewal', errorCode: 'VALIDATION_FAILED', certificateId: second.id });
    expect(kept.faults[0].message).toMatch(/^sans\[0\]: /);
    const { admin: stranger, profile: foreign } = await seedProfile(strongroom);
    expect(await stranger.post(`${CERTIFICATES}/${second.id}/renew`, { profileId: foreign.id })).toBeError(
      404,
      'CERTIFICATE_NOT_FOUND',
    );
    expect(await admin.post(`${CERTIFICATES}/${second.id}/renew`, { profileId: foreign.id })).toBeError(
      404,
      'CERTIFICATE_PROFILE_NOT_FOUND',
    );
  });

  test.each([['the same version'], ['the same idempotency key'], ['neither']])(
    'by a hundred callers at once who name %s makes one renewal',
    async (what) => {
      const { admin, project, profile } = await seedProfile(strongroom);
      const { id } = await issue(admin, profile.id);
      const body = what === 'the same version' ? { expectedVersion: 1 } : {};
      const headers: Record<string, string> =
        what === 'the same idempotency key' ? { 'idempotency-key': `k-${id}` } : {};
      const path = `${CERTIFICATES}/${id}/renew`;
      const replies = await Promise.all(
        Array.from({ length: 100 }, () => admin.patient.request({ method: 'POST', path, headers, body })),
      );
      const made = replies.filter(({ status }) => status < 300);
      expect(new Set(made.map(({ body: { certificate } }) => certificate.id)).size).toBe(1);
      if (what !== 'the same idempotency key') expect(made).toHaveLength(1);
      for (const { status, body: answer } of replies)
        if (status >= 300)
          expect(['CONCURRENT_CHANGE', 'CERTIFICATE_RENEWED', 'IDEMPOTENCY_RUNNING', 'OVERLOADED']).toContain(
            answer.code,
          );
      const [row] = await strongroom.sql('select count(*)::int as count from certificate where project_id = $1', [
        project.id,
      ]);
      expect(row).toEqual({ count: 2 });
    },
  );
});
