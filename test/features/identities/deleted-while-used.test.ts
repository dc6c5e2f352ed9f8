import type { Reply } from '../../kit/caller.js';
import { type SharedStrongroom, useSharedStrongroom } from '../../kit/strongroom.js';
import { withClient } from '../../kit/tables.js';
import { untilWaiting } from '../../kit/waiting.js';

const strongroom: SharedStrongroom = useSharedStrongroom();
const SUB = `mutation ($input: CreateSubOrganizationInput!) { createSubOrganization(input: $input) { organization { id } } }`;

/** Deletes an identity as the service does, with a request in the middle: after its row is locked, before all else goes. */
const deleteAround = (identityId: string, send: () => Promise<Reply>): Promise<Reply> =>
  withClient(strongroom.databaseUrl, async (client) => {
    await client.query(`begin; set local lock_timeout = '500ms'`);
    await client.query('select 1 from identity where id = $1 for update', [identityId]);
    const reply = send();
    await untilWaiting(strongroom, 1, reply);
    await client.query('delete from identity where id = $1', [identityId]);
    await client.query('commit');
    return reply;
  });

test('a token that is being made holds nothing that the deletion of its identity needs', async () => {
  const { admin } = await strongroom.seed.organization();
  const { identityId } = await strongroom.seed.caller(admin);
  const path = `/api/v1/auth/token-auth/identities/${identityId}/tokens`;

  const reply = await deleteAround(identityId, () => admin.post(path, {}));

  expect(reply.status).toBe(404);
  expect(['IDENTITY_NOT_FOUND', 'TOKEN_AUTH_NOT_FOUND']).toContain(reply.body.code);
});

test('a token that is made while its settings are changed has the new ones', async () => {
  const { admin } = await strongroom.seed.organization();
  const { identityId } = await strongroom.seed.caller(admin);
  const path = `/api/v1/auth/token-auth/identities/${identityId}/tokens`;

  const reply = await withClient(strongroom.databaseUrl, async (client) => {
    await client.query('begin');
    await client.query('update identity_token_auth set ttl_seconds = 77 where identity_id = $1', [identityId]);
    const made = admin.post(path, {});
    await untilWaiting(strongroom, 1, made);
    await client.query('commit');
    return made;
  });

  expect(reply.body.tokenData.accessTokenTTL).toBe(77);
});

test('a caller that is deleted while it makes a sub-organization is answered with a code', async () => {
  const { admin } = await strongroom.seed.organization();
  const caller = await strongroom.seed.caller(admin, { organizationRole: 'admin' });

  const reply = await deleteAround(caller.identityId, () => caller.graphql(SUB, { input: { name: 'web' } }));

  expect(reply).toBeError(404, 'IDENTITY_NOT_FOUND');
});
