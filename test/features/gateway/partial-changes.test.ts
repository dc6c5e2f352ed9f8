import { useSharedStrongroom } from '../../kit/strongroom.js';

const strongroom = useSharedStrongroom();

const BOTH = `mutation ($first: CreateTagInput!, $second: CreateTagInput!) {
  first: createTag(input: $first) { tag { slug } }
  second: createTag(input: $second) { tag { slug } }
}`;

describe('a document of two changes of which one fails', () => {
  const tag = (projectId: string, slug: string) => ({ projectId, slug, color: '#ff0000' });

  test.each([
    ['the second', 'new', 'taken', { first: { tag: { slug: 'new' } }, second: null }, 'second'],
    ['the first', 'taken', 'new', { first: null, second: { tag: { slug: 'new' } } }, 'first'],
  ])('answers the other: %s fails', async (_, first, second, data, failed) => {
    const { admin, project } = await strongroom.seed.project();
    await admin.data('mutation ($input: CreateTagInput!) { createTag(input: $input) { tag { id } } }', {
      input: tag(project.id, 'taken'),
    });
    const reply = await admin.graphql(BOTH, { first: tag(project.id, first), second: tag(project.id, second) });
    expect(reply.status).toBe(200);
    expect(reply.body).toEqual({
      data,
      errors: [
        expect.objectContaining({ path: [failed], extensions: expect.objectContaining({ code: 'TAG_SLUG_TAKEN' }) }),
      ],
    });
    const { tags } = await admin.data('query ($id: ID!) { tags(projectId: $id) { nodes { slug } } }', {
      id: project.id,
    });
    expect(tags.nodes).toEqual([{ slug: 'new' }, { slug: 'taken' }]);
  });

  test('takes the status of the first error when both fail', async () => {
    const { admin, project } = await strongroom.seed.project();
    const input = tag(project.id, 'Not a slug');
    expect(await admin.graphql(BOTH, { first: input, second: input })).toBeError(422, 'VALIDATION_FAILED');
  });
});
