import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from './sources.js';

const run = (program: string, ...args: string[]): { status: number | null; output: string } => {
  const { status, stdout, stderr } = spawnSync(join(ROOT, 'node_modules/.bin', program), args, {
    cwd: ROOT,
    encoding: 'utf8',
  });
  return { status, output: stdout + stderr };
};

describe('the project', () => {
  test('shows nothing else at its top level', () => {
    const visible = readdirSync(ROOT).filter((name) => !name.startsWith('.') && name !== 'node_modules');
    expect(visible.sort()).toEqual([
      'README.md',
      'docker-compose.yml',
      'mikro-orm.config.ts',
      'package-lock.json',
      'package.json',
      'schema',
      'src',
      'test',
      'tsconfig.json',
    ]);
  });

  test('has no dead file, export or dependency', () => {
    expect(run('knip', '--no-progress')).toEqual({ status: 0, output: expect.any(String) });
  }, 60_000);

  test('has a lock file without download addresses', () => {
    expect(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')).not.toMatch(/"resolved": "https?:/);
  });
});

describe('docker-compose.yml', () => {
  const compose = readFileSync(join(ROOT, 'docker-compose.yml'), 'utf8');
  const ORDER_RULES = ['service-keys-order', 'services-alphabetical-order', 'top-level-properties-order'];
  const lint = (file: string) => run('dclint', file, '--disable-rule', ...ORDER_RULES);

  test('fits the schema of Compose files', () => {
    expect(lint('docker-compose.yml')).toEqual({ status: 0, output: expect.not.stringContaining('warning') });
  });

  test('would not with a misspelt key', () => {
    const directory = mkdtempSync(join(tmpdir(), 'strongroom-compose-'));
    writeFileSync(join(directory, 'docker-compose.yml'), compose.replace('healthcheck:', 'heathcheck:'));
    expect(lint(join(directory, 'docker-compose.yml')).status).not.toBe(0);
    rmSync(directory, { recursive: true });
  });

  test('has the four services, each with a health check, and runs ours as a plain user', () => {
    const section = /^services:\n([\s\S]*?)^volumes:/m.exec(compose)?.[1] ?? '';
    const services = [...section.matchAll(/^ {2}(\w+):\n((?: {4}.*\n|\n)+)/gm)];
    expect(services.map(([, name]) => name)).toEqual(['strongroom', 'postgres', 'mongo', 'mail']);
    expect(services.filter(([, , body]) => !/^ {4}healthcheck:/m.test(body as string)).map(([, name]) => name)).toEqual(
      [],
    );
    expect(compose).toMatch(/^ +USER node$/m);
  });
});
