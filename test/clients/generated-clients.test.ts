import { spawnSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import { useSharedStrongroom } from '../kit/strongroom.js';

const ROOT = resolve(import.meta.dirname, '../..');
const CLIENTS = import.meta.dirname;

/** Runs a program on the Node of the project, and shows what it printed when it fails. */
function node(...args: string[]): void {
  const { status, stdout, stderr } = spawnSync(join(ROOT, 'node_modules/.bin/node'), args, {
    cwd: ROOT,
    encoding: 'utf8',
  });
  expect({ status, output: status === 0 ? '' : stdout + stderr }).toEqual({ status: 0, output: '' });
}

const SESSIONS = ['rest-session.ts', 'graphql-session.ts', 'apollo-session.ts', 'urql-session.ts', 'relay-session.ts'];

describe('clients of the committed schema files', () => {
  const strongroom = useSharedStrongroom();

  beforeAll(() => {
    node(join(CLIENTS, 'generate.ts'));
    node(join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', CLIENTS);
  });

  test.each(SESSIONS)('%s compiles and runs', async (session) => {
    const { admin } = await strongroom.seed.organization();
    node(join(CLIENTS, session), strongroom.url, admin.token as string);
  });
});
