import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Service } from '../../kit/service.ts';

const README = readFileSync(join(resolve(import.meta.dirname, '../../..'), 'README.md'), 'utf8');

/** The shell blocks of the first session, as one script. Only where the service listens and its token is read are the test's. */
function session(url: string, dataDir: string): string {
  const section = /^## A first session$([\s\S]*?)^## Errors$/m.exec(README)?.[1] ?? '';
  const blocks = [...section.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map((match) => match[1]);
  return blocks
    .join('\n')
    .replace('http://127.0.0.1:4000', url)
    .replace('.data/bootstrap-token', `${dataDir}/bootstrap-token`)
    .replaceAll(/^curl .*(?:\\\n.*)*(?:\n +.*)*(?:\n\}')?$/gm, '$&; echo');
}

describe('the first session of README.md', () => {
  test('runs as it stands', async () => {
    const service = await Service.start();
    try {
      const output = execFileSync('bash', ['-euo', 'pipefail', '-c', session(service.url, service.dataDir)], {
        encoding: 'utf8',
      });
      const replies = output
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line));
      expect(replies.length).toBeGreaterThanOrEqual(8);
      expect(replies.filter((reply) => reply.errors !== undefined || reply.code !== undefined)).toEqual([]);
      expect(JSON.stringify(replies)).toContain('correct horse');
      expect(replies.at(-1)).toMatchObject({ tokenType: 'Bearer', accessToken: expect.stringMatching(/^srt_/) });
    } finally {
      await service.stop();
    }
  }, 120_000);
});
