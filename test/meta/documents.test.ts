import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { buildSchema, parse, validate } from 'graphql';
import { parseAllDocuments } from 'yaml';
import { anchorsOf, codeBlocks, type MarkdownFile, markdownFiles, proseOf } from '../kit/documents.js';
import { ROOT } from './sources.js';

const files = markdownFiles();
const blocks = files.flatMap(codeBlocks);

/** Links to files and headings of the repository that lead nowhere. */
function brokenLinks(file: MarkdownFile): string[] {
  const targets = [...proseOf(file).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target as string);
  return targets
    .filter((target) => !/^[a-z]+:/.test(target))
    .filter((target) => {
      const [path = '', anchor] = target.split('#');
      const found = path === '' ? file.path : join(dirname(file.path), path);
      if (!existsSync(join(ROOT, found))) return true;
      return anchor !== undefined && !anchorsOf(readFileSync(join(ROOT, found), 'utf8')).has(anchor);
    })
    .map((target) => `${file.path}: ${target}`);
}

describe('the documents', () => {
  test('each link leads to a file and a heading that exist', () => {
    expect(files.length).toBeGreaterThan(10);
    expect(files.flatMap(brokenLinks)).toEqual([]);
  });

  test('would notice a link to a missing file, and one to a missing heading', () => {
    const text = '[a](missing.md) [b](README.md#start) [c](README.md#missing) [d](#x) [e](https://example.com/)';
    expect(brokenLinks({ path: 'test.md', text })).toEqual([
      'test.md: missing.md',
      'test.md: README.md#missing',
      'test.md: #x',
    ]);
  });

  test('each document can be reached from README.md', () => {
    const reached = new Set(['README.md']);
    for (const path of reached) {
      const { text } = files.find((file) => file.path === path) ?? { text: '' };
      for (const [, target = ''] of text.matchAll(/\]\(([^)\s#]+\.md)(?:#[^)]*)?\)/g))
        if (!target.startsWith('http')) reached.add(join(dirname(path), target));
    }
    expect(files.map(({ path }) => path).filter((path) => !reached.has(path))).toEqual([]);
  });
});

interface Manifest {
  readonly kind: string;
  readonly spec: {
    readonly template: { readonly spec: { readonly restartPolicy: string; readonly containers: readonly Container[] } };
  };
}

interface Container {
  readonly env: readonly { readonly name: string }[];
  readonly livenessProbe: Probe;
  readonly readinessProbe: Probe;
  readonly startupProbe: Probe;
}

interface Probe {
  readonly httpGet: { readonly path: string };
}

describe('the manifest for Kubernetes', () => {
  const text = readFileSync(join(ROOT, 'src/docs/kubernetes.yaml'), 'utf8');
  const manifests = parseAllDocuments(text).map((document) => document.toJS() as Manifest);
  const deployment = manifests.find(({ kind }) => kind === 'Deployment');
  const container = deployment?.spec.template.spec.containers[0] as Container;

  test('sets only variables that there are', () => {
    const documented = readFileSync(join(ROOT, 'src/docs/configuration.md'), 'utf8');
    const names = container.env.map(({ name }) => name);
    expect(names).toContain('ROOT_KEY');
    expect(names.filter((name) => !documented.includes(`| \`${name}\` |`))).toEqual([]);
  });

  test('restarts a node that has ended, whatever ended it', () => {
    expect(deployment?.spec.template.spec.restartPolicy).toBe('Always');
  });

  test('restarts a node only for what a restart helps with', () => {
    expect(container.livenessProbe.httpGet.path).toBe('/livez');
    expect(container.readinessProbe.httpGet.path).toBe('/readyz');
    expect(container.startupProbe.httpGet.path).toBe('/readyz');
  });
});

describe('the blocks of code of the documents', () => {
  const schema = buildSchema(readFileSync(join(ROOT, 'schema/schema.graphql'), 'utf8'));
  const inLanguage = (language: string) => blocks.filter((block) => block.language === language);

  test('are of languages that a test checks, or plain text', () => {
    // The shell blocks are run by test/features/start/documents.test.ts, the JavaScript by test/features/notifications.
    const checked = ['sh', 'graphql', 'json', 'js', 'mermaid'];
    const plain = ['', 'console', 'ts'];
    expect(blocks.filter(({ language }) => ![...checked, ...plain].includes(language))).toEqual([]);
    expect(inLanguage('ts').map(({ path }) => path)).toEqual(['test/README.md']);
    expect(inLanguage('js').map(({ path }) => path)).toEqual(['src/docs/changes.md', 'src/docs/webhooks.md']);
    expect(inLanguage('mermaid').map(({ path }) => path)).toEqual(['src/README.md', 'src/docs/rotations.md']);
  });

  test('in GraphQL fit the schema', () => {
    const wrong = inLanguage('graphql').flatMap(({ path, line, code }) =>
      code
        .trim()
        .split(/\n(?=\w)/)
        .flatMap((document) => validate(schema, parse(document)))
        .map(({ message }) => `${path}:${line} ${message}`),
    );
    expect(inLanguage('graphql').length).toBeGreaterThan(0);
    expect(wrong).toEqual([]);
  });

  test('in JSON can be parsed', () => {
    expect(inLanguage('json').length).toBeGreaterThan(2);
    for (const { code } of inLanguage('json')) expect(() => JSON.parse(code)).not.toThrow();
  });
});
