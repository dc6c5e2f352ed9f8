import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from './sources.js';

test('schema/ holds what the code generates; `npm run schema` renews it', () => {
  const fresh = mkdtempSync(join(tmpdir(), 'strongroom-schema-'));
  try {
    execFileSync(process.execPath, [join(ROOT, '.build/src/bin/print-schema.js'), fresh], { cwd: ROOT });
    for (const name of ['schema.graphql', 'subgraph.graphql', 'openapi.json']) {
      const isCurrent = readFileSync(join(ROOT, 'schema', name), 'utf8') === readFileSync(join(fresh, name), 'utf8');
      expect({ name, isCurrent }).toEqual({ name, isCurrent: true });
    }
    expect(readdirSync(join(ROOT, 'schema')).sort()).toEqual([
      'README.md',
      'examples',
      'openapi.json',
      'schema.graphql',
      'subgraph.graphql',
    ]);
  } finally {
    rmSync(fresh, { recursive: true });
  }
});
