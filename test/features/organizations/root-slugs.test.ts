import { useSharedStrongroom } from '../../kit/strongroom.ts';

const RENAME = `mutation ($input: UpdateOrganizationInput!) { updateOrganization(input: $input) { organization { slug } } }`;

describe('the slug of a root organization', () => {
  const strongroom = useSharedStrongroom();

  test('may be that of another root, so that its admin learns of no other', async () => {
    const [one, two] = [await strongroom.seed.organization(), await strongroom.seed.organization()];
    const { status, body } = await one.admin.graphql(RENAME, {
      input: { id: one.organization.id, slug: two.organization.slug },
    });
    expect({ status, body }).toEqual({
      status: 200,
      body: { data: { updateOrganization: { organization: { slug: two.organization.slug } } } },
    });
  });
});
