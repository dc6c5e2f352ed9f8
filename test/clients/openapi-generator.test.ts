import { spawnSync } from 'node:child_process';
import { copyFile, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { describeWith } from '../kit/describe-with.js';
import { mavenJars } from '../kit/maven-jars.js';
import { useSharedStrongroom } from '../kit/strongroom.js';

const ROOT = resolve(import.meta.dirname, '../..');
const SESSION = 'fetch-session.ts';
const OPTIONS = 'importFileExtension=.js';
/** The first run on a machine fetches the generator. */
const GENERATED_WITHIN_MS = 300_000;

describeWith(['java', 'mvn'], 'the client that openapi-generator makes for TypeScript', () => {
  const strongroom = useSharedStrongroom();
  let folder: string;

  /** Runs a program in the folder, and shows what it printed when it fails. */
  function run(program: string, ...args: string[]): void {
    const { status, stdout, stderr } = spawnSync(program, args, { cwd: folder, encoding: 'utf8' });
    expect({ status, output: status === 0 ? '' : stdout + stderr }).toEqual({ status: 0, output: '' });
  }

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'strongroom-generated-'));
    const jars = await mavenJars(join(import.meta.dirname, 'openapi-generator.pom.xml'));
    const [jar = ''] = await readdir(jars);
    const document = join(ROOT, 'schema/openapi.json');
    const made = ['-g', 'typescript-fetch', '-i', document, '-o', 'generated/fetch', '-p', OPTIONS];
    // For a program that runs once for some seconds.
    run('java', '-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', '-jar', join(jars, jar), 'generate', ...made);
    await copyFile(join(import.meta.dirname, SESSION), join(folder, SESSION));
    await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
    const compilerOptions = {
      module: 'nodenext',
      lib: ['es2023', 'dom'],
      types: ['node'],
      strict: true,
      outDir: 'made',
    };
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: [SESSION] }));
  }, GENERATED_WITHIN_MS);
  afterAll(() => rm(folder, { recursive: true, force: true }));

  test('compiles and runs a session', async () => {
    const { admin } = await strongroom.seed.organization();
    run(join(ROOT, 'node_modules/.bin/node'), join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', folder);
    run(join(ROOT, 'node_modules/.bin/node'), 'made/fetch-session.js', strongroom.url, admin.token as string);
  });
});
