import { useStrongroom } from '../kit/strongroom.ts';

const strongroom = useStrongroom({ CORS_ORIGINS: 'https://app.example.com' });

test('a page and its files vary by origin, as every answer does, so that no cache gives them to another one', async () => {
  const { anonymous } = strongroom.admin;
  for (const path of ['/', '/docs', '/graphql', '/openapi.json', '/assets/strongroom.css']) {
    const reply = await anonymous.get(path, { origin: 'https://app.example.com', accept: 'text/html' });
    expect({ path, origin: reply.headers['access-control-allow-origin'], vary: reply.headers.vary }).toEqual({
      path,
      origin: 'https://app.example.com',
      vary: expect.stringMatching(/^Origin(, Accept)?, accept-encoding$/i),
    });
  }
});
