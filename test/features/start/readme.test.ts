import { execFileSync } from 'node:child_process';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Service } from '../../kit/service.ts';

const README = readFileSync(join(resolve(import.meta.dirname, '../../..'), 'README.md'), 'utf8');

/**
 * The shell blocks of the first session, and of the background jobs and the persisted documents that go on from it, as one script. Only where the service
 * listens, where its token is read and where a file is written are the test's.
 */
function session(url: string, dataDir: string): string {
  const first = /^## A first session$([\s\S]*?)^## Errors$/m.exec(README)?.[1] ?? '';
  const persisted = /^### Persisted documents$([\s\S]*?)^## /m.exec(README)?.[1] ?? '';
  const jobs = /^### Background jobs$([\s\S]*?)^### /m.exec(README)?.[1] ?? '';
  const blocks = [...`${first}${jobs}${persisted}`.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map((match) => match[1]);
  return blocks
    .join('\n')
    .replaceAll('http://127.0.0.1:4000', url)
    .replaceAll('.data/bootstrap-token', `${dataDir}/bootstrap-token`)
    .replaceAll(/by-slug\.graphql|shop\.key|(?:shop|root)\.pem/g, `${dataDir}/$&`)
    .replaceAll(/^curl .*(?:\\\n.*)*(?:\n +.*)*(?:\n\}')?$/gm, '$&; echo');
}

describe('the first session of README.md', () => {
  test('runs as it stands', async () => {
    const service = await Service.start();
    try {
      const output = execFileSync('bash', ['-euo', 'pipefail', '-c', session(service.url, service.dataDir)], {
        encoding: 'utf8',
        env: { ...process.env, DATA_DIR: service.dataDir },
      });
      const replies = output
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line));
      expect(replies.length).toBeGreaterThanOrEqual(8);
      expect(replies.filter((reply) => reply.errors !== undefined || reply.code !== undefined)).toEqual([]);
      expect(JSON.stringify(replies)).toContain('correct horse');
      const explained = replies.find((reply) => reply.data?.explainAccess !== undefined);
      expect(explained.data.explainAccess).toMatchObject({ isAllowed: true, origin: { slug: 'viewer' } });
      expect(replies.at(-1)).toEqual({ data: { projectBySlug: { id: expect.any(String), name: 'Payments' } } });
      expect(replies.at(-2)).toMatchObject({ jobKind: { name: 'jobs:delete-finished', isPaused: false } });
      const file = (name: string): Buffer => readFileSync(join(service.dataDir, name));
      const [certificate, root] = ['shop.pem', 'root.pem'].map((name) => new X509Certificate(file(name)));
      expect(certificate?.verify((root as X509Certificate).publicKey)).toBe(true);
      expect(certificate?.checkPrivateKey(createPrivateKey(file('shop.key')))).toBe(true);
      const login = replies.find(({ tokenType }) => tokenType !== undefined);
      expect(login).toMatchObject({ tokenType: 'Bearer', accessToken: expect.stringMatching(/^srt_/) });
    } finally {
      await service.stop();
    }
  }, 120_000);
});
