import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import packageJson from '../../package.json' with { type: 'json' };
import { assemble } from '../app.js';
import { printSortedSchema } from '../kernel/graphql/schema.js';
import { compileRoutes } from '../rest/compile.js';
import { openapiText } from '../rest/openapi/document.js';

/** `npm run schema`: writes `schema.graphql` and `openapi.json` from the code, into `schema/` or the directory named. */
const directory = process.argv[2] ?? 'schema';
const { schema, routes, groups } = assemble();
const { version } = packageJson;
await mkdir(directory, { recursive: true });
await writeFile(join(directory, 'schema.graphql'), printSortedSchema(schema));
await writeFile(join(directory, 'openapi.json'), openapiText(compileRoutes(schema, routes), { version, groups }));
