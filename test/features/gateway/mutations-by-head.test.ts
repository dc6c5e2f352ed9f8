import { type SharedStrongroom, useSharedStrongroom } from '../../kit/strongroom.js';

/** Apollo Server refuses mutations that come by GET, and by nothing else: a HEAD ran them. */
describe('a mutation in the address of a request', () => {
  const strongroom: SharedStrongroom = useSharedStrongroom();

  test.each(['GET', 'HEAD'])('does not run by %s', async (method) => {
    const { admin, project } = await strongroom.seed.project();
    const document = `mutation { createTag(input: { projectId: "${project.id}", slug: "made", color: "#aa0000" }) { tag { id } } }`;

    const reply = await admin.request({ method, path: `/graphql?query=${encodeURIComponent(document)}` });

    expect([reply.status, reply.headers.allow]).toEqual([405, 'POST']);
    const { body } = await admin.get(`/api/v1/projects/${project.id}/tags`);
    expect(body.tags).toEqual([]);
  });

  test('does run by POST', async () => {
    const { admin, project } = await strongroom.seed.project();
    const document = `mutation { createTag(input: { projectId: "${project.id}", slug: "made", color: "#aa0000" }) { tag { id } } }`;
    await admin.data(document);
    const { body } = await admin.get(`/api/v1/projects/${project.id}/tags`);
    expect(body.tags).toHaveLength(1);
  });
});
