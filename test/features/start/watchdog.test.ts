import { spawnSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import { Caller, mustSucceed } from '../../kit/caller.js';
import { migratedDatabase } from '../../kit/databases.js';
import { Service } from '../../kit/service.js';
import { newSettings, type Settings } from '../../kit/shared-services.js';
import { until } from '../../kit/until.js';

const BLOCKING = `--import=${join(import.meta.dirname, '../../kit/blocking.mjs')}`;
const BLOCKS = 'BLOCK-THE-LOOP';
/** Ten seconds of the processor, which others use as well. */
const KILLED_WITHIN_MS = 200_000;

const ROOT = resolve(import.meta.dirname, '../../..');
/** As the first process of a container. */
const AS_PROCESS_1 = ['unshare', '--pid', '--fork', '--mount-proc'] as const;
const canUnshare = (): boolean => spawnSync(AS_PROCESS_1[0], [...AS_PROCESS_1.slice(1), 'true']).status === 0;

describe('a service whose event loop is blocked', () => {
  let settings: Settings;
  beforeAll(async () => {
    settings = newSettings(await migratedDatabase(), { NODE_OPTIONS: BLOCKING });
  });

  /** The last words of a service that this request blocks: its line in the log, and what it says to a person. */
  async function lastWords(ask: (caller: Caller) => Promise<unknown>) {
    const service = await Service.start({ env: settings });
    try {
      const asked = ask(new Caller(service.url, settings.BOOTSTRAP_TOKEN)).catch(() => null);
      await service.exit(KILLED_WITHIN_MS);
      await asked;
      expect(service.child.signalCode).toBe('SIGKILL');
      const lines = service.output.split('\n');
      const line = lines.find((text) => text.startsWith('{') && text.includes('event loop blocked')) ?? '';
      expect(line).not.toContain(BLOCKS);
      return { line: JSON.parse(line), words: lines.filter((text) => text.startsWith('strongroom: ')) };
    } finally {
      await service.dispose();
    }
  }

  test('by a REST request ends, and says which, where in the code, and how it is started again', async () => {
    const { line, words } = await lastWords((caller) => caller.post('/api/v1/projects', { projectName: BLOCKS }));
    expect(line).toEqual({
      level: 60,
      time: expect.any(String),
      processorMs: 10_000,
      requestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      route: 'POST /api/v1/projects',
      operation: 'createProject',
      at: expect.stringMatching(/^inResponse \(blocking\.mjs:\d+:\d+\) < \w/),
      msg: 'event loop blocked',
    });
    expect(words).toEqual([expect.stringMatching(/ended itself\..* Start it again\..*Restart=on-failure/)]);
  });

  test('by a GraphQL document ends, and names its root fields as the schema has them', async () => {
    const query = `mutation My_operation { ${BLOCKS.replaceAll('-', '_')}: createProject(input: { name: "${BLOCKS}" }) { project { name } } }`;
    const { line } = await lastWords((caller) => caller.post('/graphql', { query, operationName: 'My_operation' }));
    expect(line).toMatchObject({
      requestId: expect.any(String),
      route: 'POST /graphql',
      operation: 'createProject',
      at: expect.stringMatching(/^inResponse /),
    });
    expect(JSON.stringify(line)).not.toContain('My_operation');
  });

  (canUnshare() ? test : test.skip)('ends as process 1 too, which no signal from its container can kill', async () => {
    const [program, ...args] = AS_PROCESS_1;
    const service = await Service.start({
      env: settings,
      command: [program, ...args, join(ROOT, 'node_modules/.bin/node'), join(ROOT, '.build/src/main.js')],
    });
    try {
      const caller = new Caller(service.url, settings.BOOTSTRAP_TOKEN);
      const asked = caller.post('/api/v1/projects', { projectName: BLOCKS }).catch(() => null);
      expect(await service.exit(KILLED_WITHIN_MS)).toBe(137);
      await asked;
      expect(service.output).toContain('event loop blocked');
    } finally {
      await service.dispose();
    }
  });

  test('only for lack of a processor lives on, however long it takes', async () => {
    const service = await Service.start({ env: settings });
    try {
      service.signal('SIGUSR2');
      await until('it to wait', 20_000, () => service.output.includes('waits'));
      const caller = new Caller(service.url, settings.BOOTSTRAP_TOKEN);
      const asked = caller.get('/livez');
      await until('it to have waited', 60_000, () => service.output.includes('has waited'));
      expect((await asked).status).toBe(200);
      // And it is whole again: what blocked the others is in the projects of none.
      mustSucceed(await caller.post('/api/v1/projects', { projectName: 'after' }));
      expect(service.output).not.toContain('event loop blocked');
    } finally {
      await service.stop();
    }
  });
});
