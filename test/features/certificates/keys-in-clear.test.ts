import { randomUUID } from 'node:crypto';
import { mustSucceed, type Reply } from '../../kit/caller.js';
import { formsOf, foundIn, type Needle } from '../../kit/canary.js';
import { newLeaf, newRoot } from '../../kit/certificates/material.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';
import { IS_TABLE } from '../../kit/tables.js';
import { CA, CERTIFICATES, importCertificate, makeAuthority, PENDING, seedProject } from './kit.js';

const strongroom = useSharedStrongroom();

/** Rows of all tables as text: those of an organization, and all that are of none. */
async function storedOf(organizationId: string): Promise<string> {
  const tables = await strongroom.sql<{ name: string; isOfOrganizations: boolean }>(
    `select table_name as name, exists (
       select from information_schema.columns c where c.table_name = t.table_name and c.table_schema = 'public'
         and c.column_name = 'organization_id') as "isOfOrganizations"
     from information_schema.tables t where ${IS_TABLE}`,
  );
  const rows = await Promise.all(
    tables.map(({ name, isOfOrganizations }) =>
      strongroom.sql<{ row: string }>(
        `select t::text as row from "${name}" t
         where ${isOfOrganizations ? `organization_id is null or organization_id = '${organizationId}'` : 'true'}`,
      ),
    ),
  );
  return JSON.stringify(rows);
}

/** PEM breaks lines inside of what is looked for. */
const found = (text: string, needles: readonly Needle[]): string[] =>
  foundIn(Buffer.from(text.replace(/(\\r)?\\n|\s/g, '')), needles);

test('private keys are nowhere in the clear: not in the database, the log, the audit trail or an error', async () => {
  const { admin, organization, project } = await seedProject(strongroom);
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
  const stored = await storedOf(organization.id);
  expect(stored).toContain(id);
  expect(found(stored, needles)).toEqual([]);
  expect(stored).not.toContain('PRIVATE KEY');
  expect(found(await strongroom.log(), needles)).toEqual([]);
});
