// Checks the types of the console against the schema: what it asks for is typed by the schema file, which is turned into types first.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { minifyIntrospection, outputIntrospectionFile } from '@gql.tada/internal';
import { buildSchema, introspectionFromSchema } from 'graphql';
import { ROOT } from './tree.mjs';

const file = join(ROOT, 'node_modules/.cache/strongroom-schema.d.ts');
const schema = buildSchema(readFileSync(join(ROOT, 'schema/schema.graphql'), 'utf8'));
const introspection = minifyIntrospection(introspectionFromSchema(schema));
mkdirSync(dirname(file), { recursive: true });
writeFileSync(file, outputIntrospectionFile(introspection, { fileType: '.d.ts', shouldPreprocess: true }));
