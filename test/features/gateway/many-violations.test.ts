import { type SharedStrongroom, useSharedStrongroom } from '../../kit/strongroom.js';

const CREATE = 'mutation ($input: CreateSecretsInput!) { createSecrets(input: $input) { secrets { id } } }';

/** All faults were looked for, and told no more than a thousand: a body held the service for 3 s. More entries are no body at all. */
describe('a request with more faults than are told', () => {
  const strongroom: SharedStrongroom = useSharedStrongroom();

  test.each<[string, unknown[]]>([
    ['entries that miss what they need', Array(9_000).fill({})],
    ['entries of another type', Array(9_000).fill(1)],
  ])('hears of the first thousand and that there are more: %s', async (_, secrets) => {
    const reply = await strongroom.admin.post('/graphql', {
      query: CREATE,
      variables: { input: { projectId: 'p', environment: 'dev', secrets } },
    });

    expect(reply.status).toBe(422);
    const { details } = reply.body.errors[0].extensions;
    expect(details).toHaveLength(1_001);
    expect(details.slice(0, 1_000).every(({ path }: { path: string }) => path.startsWith('input.secrets['))).toBe(true);
    expect(details[1_000]).toEqual({
      path: 'request',
      code: 'TOO_MANY',
      message: 'there are more violations, which are not listed',
    });
  });

  test('and hears of near names for the first of them only', async () => {
    const types = Array.from({ length: 60 }, (_, n) => `$v${n}: Projec`).join(' ');
    const { body } = await strongroom.admin.anonymous.post('/graphql', { query: `query (${types}) { __typename }` });

    const messages: string[] = body.errors.map(({ message }: { message: string }) => message);
    expect(messages).toHaveLength(50);
    expect(messages.filter((message) => message.endsWith('unknown type; did you mean `Project`?'))).toHaveLength(10);
    expect(messages.filter((message) => message.endsWith('unknown type.'))).toHaveLength(40);
  });
});
