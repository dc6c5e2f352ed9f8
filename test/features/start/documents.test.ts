import { execFileSync } from 'node:child_process';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { codeBlocks, markdownFiles } from '../../kit/documents.ts';
import { Service } from '../../kit/service.ts';

/** The documents with shell blocks, in the order in which a reader goes through them: later ones use variables of earlier ones. */
const READING_ORDER = [
  'README.md',
  'src/docs/secrets.md',
  'src/docs/access.md',
  'src/docs/certificates.md',
  'src/docs/notifications.md',
  'src/docs/connections.md',
  'src/docs/rotations.md',
  'src/docs/stuck.md',
  'src/docs/jobs.md',
  'src/docs/operating.md',
  'schema/README.md',
];

const shellBlocks = markdownFiles()
  .flatMap(codeBlocks)
  .filter(({ language }) => language === 'sh');

/** All shell blocks as one script. Only the address of the service, its data directory and the files that are written are the test's. */
function session(url: string, dataDir: string): string {
  return READING_ORDER.flatMap((path) => shellBlocks.filter((block) => block.path === path))
    .map(({ code }) => code)
    .join('\n')
    .replaceAll('http://127.0.0.1:4000', url)
    .replaceAll('.data/bootstrap-token', `${dataDir}/bootstrap-token`)
    .replaceAll(/by-slug\.graphql|shop\.key|(?:shop|root)\.pem/g, `${dataDir}/$&`)
    .replaceAll(/^curl .*(?:\\\n.*)*(?:\n +.*)*(?:\n\}'(?: \| json)?)?$/gm, '$&; echo');
}

/** The JSON values of an output, each on one line or on many. */
function valuesIn(output: string) {
  const values = [];
  let text = '';
  for (const line of output.split('\n')) {
    text += `${line}\n`;
    // Whether a value ends here, only a parser knows.
    try {
      values.push(JSON.parse(text));
      text = '';
    } catch {}
  }
  expect(text.trim()).toBe('');
  return values;
}

describe('the shell blocks of the documents', () => {
  test('all belong to the session', () => {
    expect(new Set(shellBlocks.map(({ path }) => path))).toEqual(new Set(READING_ORDER));
  });

  test('print responses so that they can be read, and parts of them, with jq and without', () => {
    const [defined = ''] = /^json\(\) \{\n.*?^\}$/ms.exec(shellBlocks.map(({ code }) => code).join('\n')) ?? [];
    const response = JSON.stringify({ project: { id: 'p-1', slugs: ['dev'], isOld: false, none: null } });
    const run = (args: string, env: NodeJS.ProcessEnv) =>
      execFileSync('/bin/bash', ['-euo', 'pipefail', '-c', `${defined}\njson ${args}`], {
        encoding: 'utf8',
        input: response,
        env,
      });
    // Where there is Node and nothing else.
    for (const env of [process.env, { PATH: dirname(process.execPath) }]) {
      expect(run('', env)).toBe(`${JSON.stringify(JSON.parse(response), null, 2)}\n`);
      expect(run('.project.id', env)).toBe('p-1\n');
      expect(run('.project.slugs', env)).toBe('[\n  "dev"\n]\n');
    }
  });

  test('run as they stand', async () => {
    const service = await Service.start();
    try {
      const output = execFileSync('bash', ['-euo', 'pipefail', '-c', session(service.url, service.dataDir)], {
        encoding: 'utf8',
        env: { ...process.env, DATA_DIR: service.dataDir },
      });
      const replies = valuesIn(output);
      expect(replies.length).toBeGreaterThanOrEqual(35);
      expect(replies.filter((reply) => reply.errors !== undefined || reply.code !== undefined)).toEqual([]);
      expect(JSON.stringify(replies)).toContain('correct horse');
      const explained = replies.find((reply) => reply.data?.explainAccess !== undefined);
      expect(explained.data.explainAccess).toMatchObject({ isAllowed: true, origin: { slug: 'viewer' } });
      expect(replies.at(-1)).toEqual({ data: { projectBySlug: { id: expect.any(String), name: 'Payments' } } });
      expect(replies.at(-2)).toMatchObject({ secret: { secretKey: 'API_KEY' } });
      const jobKinds = replies.filter(({ jobKind }) => jobKind !== undefined).map(({ jobKind }) => jobKind);
      expect(jobKinds).toMatchObject([true, false].map((isPaused) => ({ name: 'jobs:delete-finished', isPaused })));
      const file = (name: string): Buffer => readFileSync(join(service.dataDir, name));
      const [certificate, root] = ['shop.pem', 'root.pem'].map((name) => new X509Certificate(file(name)));
      expect(certificate?.verify((root as X509Certificate).publicKey)).toBe(true);
      expect(certificate?.checkPrivateKey(createPrivateKey(file('shop.key')))).toBe(true);
      const login = replies.find(({ tokenType }) => tokenType !== undefined);
      expect(login).toMatchObject({ tokenType: 'Bearer', accessToken: expect.stringMatching(/^srt_/) });
    } finally {
      await service.stop();
    }
  });
});
