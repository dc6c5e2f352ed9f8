import { readDocument } from '../../kit/documents.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';

const strongroom = useSharedStrongroom();

/** The request of the sample in the document, and what the document says of its response. */
const sample = (): { path: string; sent: Record<string, string>; error: Record<string, unknown> } => {
  const found = /`POST (\S+)` with `(\{[^`]*\})` gets\n\n```json\n([\s\S]*?)^```/m.exec(
    readDocument('schema/README.md'),
  );
  const [, path = '', sent = '', error = ''] = found ?? [];
  return { path, sent: JSON.parse(sent), error: JSON.parse(error) };
};

describe('the error that schema/README.md shows', () => {
  const REQUEST_ID = '…';

  test('is what its request gets', async () => {
    const { path, sent, error } = sample();
    const { status, headers, body } = await strongroom.admin.post(path, sent);
    expect(status).toBe(error.statusCode);
    expect(body.reqId).toBe(headers['x-request-id']);
    expect({ ...body, reqId: REQUEST_ID }).toEqual(error);
  });

  test('has the same parts in GraphQL, at the place of the argument', async () => {
    const { sent, error } = sample();
    const { body } = await strongroom.admin.graphql(
      'mutation ($input: CreateProjectInput!) { createProject(input: $input) { project { id } } }',
      { input: { name: sent.projectName, slug: sent.slug } },
    );
    const [{ message, extensions }] = body.errors;
    const { code, statusCode, details } = error;
    expect(message).toBe(error.message);
    expect({ ...extensions, reqId: REQUEST_ID }).toEqual({
      ...{ code, statusCode, reqId: REQUEST_ID },
      details: (details as { path: string }[]).map((detail) => ({
        ...detail,
        path: detail.path.replace('body.', 'input.'),
      })),
    });
  });
});
