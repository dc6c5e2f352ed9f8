import { randomUUID } from 'node:crypto';
import { Caller, type Strongroom, useStrongroom } from '../../kit/strongroom.js';

const strongroom: Strongroom = useStrongroom();
const CREATE = `mutation ($input: CreateOrganizationInput!) { createOrganization(input: $input) { organization { id } } }`;
const DELETE = `mutation ($input: DeleteOrganizationInput!) { deleteOrganization(input: $input) { organization { id } } }`;

test('a token of the installation admin that is scoped to a sub-organization reaches no further', async () => {
  const slug = `sub-${randomUUID().slice(0, 8)}`;
  await strongroom.admin.data(
    `mutation ($input: CreateSubOrganizationInput!) { createSubOrganization(input: $input) { organization { id } } }`,
    { input: { name: slug, slug } },
  );
  const [{ id } = { id: '' }] = await strongroom.sql<{ id: string }>(
    'select id from identity where is_installation_admin',
  );
  const issued = await strongroom.admin.post(`/api/v1/auth/token-auth/identities/${id}/tokens`, {
    organizationSlug: slug,
  });
  const scoped = new Caller(strongroom.url, issued.body.accessToken);
  const { organization } = await strongroom.seed.organization();

  expect(await scoped.graphql(CREATE, { input: { name: 'Escape' } })).toBeError(403, 'PERMISSION_DENIED');
  expect(await scoped.graphql(DELETE, { input: { id: organization.id } })).toBeError(404, 'ORGANIZATION_NOT_FOUND');
  expect((await strongroom.admin.graphql(DELETE, { input: { id: organization.id } })).status).toBe(200);
});
