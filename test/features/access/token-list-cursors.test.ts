import { type SharedStrongroom, useSharedStrongroom } from '../../kit/strongroom.js';

const strongroom: SharedStrongroom = useSharedStrongroom();
const ID = '00000000-0000-4000-8000-000000000000';

test.each([
  '0000-01-01T00:00:00.000Z',
  '2024-02-30T00:00:00.000Z',
  '2023-02-29T00:00:00.000Z',
  '2024-01-01T24:00:00.000Z',
])('a cursor with the time %s, which no row can have, is none of the list of tokens', async (time) => {
  const { admin } = await strongroom.seed.organization();
  const cursor = Buffer.from(JSON.stringify([time, ID])).toString('base64url');

  expect(
    await admin.get(`/api/v1/auth/token-auth/identities/${admin.identityId}/tokens?limit=1&cursor=${cursor}`),
  ).toBeError(422, 'VALIDATION_FAILED');
});
