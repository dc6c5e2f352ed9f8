import { randomUUID } from 'node:crypto';
import { mustSucceed, type Reply } from '../../kit/caller.js';
import { formsOf, foundIn, type Needle } from '../../kit/canary.js';
import { newLeaf, newRoot } from '../../kit/certificates/material.js';
import { useStrongroom } from '../../kit/strongroom.js';
import { tableContents } from '../../kit/tables.js';
import { CA, CERTIFICATES, importCertificate, makeAuthority, PENDING, seedProject } from './kit.js';

const strongroom = useStrongroom();

/** PEM breaks lines inside of what is looked for. */
const found = (text: string, needles: readonly Needle[]): string[] =>
  foundIn(Buffer.from(text.replace(/(\\r)?\\n|\s/g, '')), needles);

test('private keys are nowhere in the clear: not in the database, the log, the audit trail or an error', async () => {
  const { admin, project } = await seedProject(strongroom);
  const leaf = await newLeaf(await newRoot());
  // The secret number itself, in whatever form it is written.
  const { d = '' } = leaf.pair.privateKey.export({ format: 'jwk' });
  const needles: Needle[] = formsOf('key', Buffer.from(d, 'base64url'));
  const { id } = await importCertificate(admin, project.id, { certificate: leaf.pem + leaf.key });
  expect(found(mustSucceed(await admin.get(`${CERTIFICATES}/${id}/private-key`)).text, needles)).not.toEqual([]);
  const replies: Reply[] = [
    await admin.get(`${CERTIFICATES}/${id}`),
    await admin.get(`${CERTIFICATES}/${id}/pem`),
    await admin.post(`${CERTIFICATES}/import`, { projectId: project.id, certificate: leaf.pem, privateKey: leaf.key }),
    await admin.post(`${CERTIFICATES}/import`, { projectId: project.id, certificate: leaf.key }),
    await admin.post(`${CERTIFICATES}/import`, {
      projectId: project.id,
      certificate: leaf.pem,
      privateKey: leaf.key + leaf.key,
    }),
    await admin.post(`${CERTIFICATES}/import`, {
      projectId: randomUUID(),
      certificate: leaf.pem,
      privateKey: leaf.key,
    }),
    await admin.post(`${CERTIFICATES}/import`, {
      projectId: project.id,
      certificate: leaf.pem,
      privateKey: [leaf.key],
    }),
    await admin.patch(`${CERTIFICATES}/${id}`, { metadata: leaf.key }),
  ];
  const pending = await makeAuthority(admin, project.id, PENDING);
  replies.push(await admin.post(`${CA}/${pending.id}/import-certificate`, { certificate: leaf.pem + leaf.key }));
  expect(replies.map(({ status }) => status)).toEqual([200, 200, 409, 422, 422, 404, 422, 422, 422]);
  for (const { text } of replies) expect(found(text, needles)).toEqual([]);
  const stored = JSON.stringify(await tableContents(strongroom.databaseUrl));
  expect(found(stored, needles)).toEqual([]);
  expect(stored).not.toContain('PRIVATE KEY');
  expect(found(await strongroom.log(), needles)).toEqual([]);
});
