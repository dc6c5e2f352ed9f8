// What client generators make of the committed schema files, as a user of the service would have them do it.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { codegen } from '@graphql-codegen/core';
import * as operations from '@graphql-codegen/typescript-operations';
import { parse } from 'graphql';

const ROOT = resolve(import.meta.dirname, '../..');
const TARGET = join(import.meta.dirname, 'generated');

/** Types of every path and body of the OpenAPI document. */
function generateRest(): void {
  const { status, stderr } = spawnSync(
    process.execPath,
    [
      `--import=${join(import.meta.dirname, 'typescript-5.mjs')}`,
      join(ROOT, 'node_modules/openapi-typescript/bin/cli.js'),
      join(ROOT, 'schema/openapi.json'),
      '--output',
      join(TARGET, 'rest.ts'),
    ],
    { encoding: 'utf8' },
  );
  if (status !== 0) throw new Error(`openapi-typescript failed:\n${stderr}`);
}

/** Types of the variables and the answers of the operations of a session. */
async function generateGraphQL(): Promise<void> {
  const read = (path: string) => readFileSync(path, 'utf8');
  const made = await codegen({
    filename: 'graphql.ts',
    schema: parse(read(join(ROOT, 'schema/schema.graphql'))),
    documents: [{ document: parse(read(join(import.meta.dirname, 'session.graphql'))) }],
    config: { useTypeImports: true, scalars: { DateTime: 'string' } },
    plugins: [{ operations: {} }],
    pluginMap: { operations },
  });
  writeFileSync(join(TARGET, 'graphql.ts'), made);
}

/** What Relay's compiler makes of the documents of its session. */
function generateRelay(): void {
  const target = join(TARGET, 'relay');
  mkdirSync(target, { recursive: true });
  const config = join(TARGET, 'relay.config.json');
  const settings = {
    root: ROOT,
    sources: { 'test/clients': 'session' },
    excludes: ['**/generated/**'],
    projects: {
      session: {
        language: 'typescript',
        schema: 'schema/schema.graphql',
        output: 'test/clients/generated/relay',
        eagerEsModules: true,
        useImportTypeSyntax: true,
        customScalarTypes: { DateTime: 'string' },
      },
    },
  };
  writeFileSync(config, JSON.stringify(settings));
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(ROOT, 'node_modules/relay-compiler/cli.js'), '--noWatchman', config],
    { encoding: 'utf8', cwd: ROOT },
  );
  if (status !== 0) throw new Error(`relay-compiler failed:\n${stdout}${stderr}`);
}

mkdirSync(TARGET, { recursive: true });
generateRest();
generateRelay();
await generateGraphQL();
