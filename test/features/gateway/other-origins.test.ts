import { type Strongroom, useStrongroom } from '../../kit/strongroom.js';

/** What anybody may keep told a cache by its own `Vary` only, over that of CORS: one origin got the answer for another. */
describe('what is public, where pages of other origins may call the service', () => {
  const strongroom: Strongroom = useStrongroom({ CORS_ORIGINS: 'https://app.example.com' });

  test.each<[string, string, string[]]>([
    ['/', 'text/html', ['Origin', 'Accept', 'Accept-Encoding']],
    ['/', 'application/json', ['Origin', 'Accept', 'Accept-Encoding']],
    ['/docs', '*/*', ['Origin', 'Accept-Encoding']],
    ['/openapi.json', '*/*', ['Origin', 'Accept-Encoding']],
    ['/assets/explorer.js', '*/*', ['Origin', 'Accept-Encoding']],
    ['/graphql', 'text/html', ['Origin', 'Accept', 'Accept-Encoding']],
  ])('%s as %s says all that it depends on, once', async (path, accept, names) => {
    for (const origin of ['https://app.example.com', 'https://other.example.com']) {
      const { status, headers } = await strongroom.admin.anonymous.get(path, { accept, origin });
      expect([status, headers['cache-control']]).toEqual([200, 'public, no-cache']);
      expect(String(headers.vary).split(', ').sort()).toEqual([...names].sort());
    }
  });
});
