import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  buildSchema,
  type GraphQLNamedType,
  isEnumType,
  isInputObjectType,
  isIntrospectionType,
  isObjectType,
  isSpecifiedScalarType,
} from 'graphql';
import { STATES } from '../../src/features/rotations/secret-rotations/store/states.js';
import { DOCS, readDocument } from '../kit/documents.js';
import { ROOT, sources } from './sources.js';

describe('documentation of the interface', () => {
  const schema = buildSchema(readFileSync(join(ROOT, 'schema/schema.graphql'), 'utf8'));
  const types: GraphQLNamedType[] = Object.values(schema.getTypeMap()).filter(
    (type) => !isIntrospectionType(type) && !isSpecifiedScalarType(type),
  );

  test('every GraphQL type, field, argument and enum value is described', () => {
    const bare = types.flatMap((type) => [
      ...(type.description || type === schema.getQueryType() || type === schema.getMutationType() ? [] : [type.name]),
      ...(isObjectType(type) ? Object.values(type.getFields()) : []).flatMap((field) => [
        ...(field.description ? [] : [`${type.name}.${field.name}`]),
        ...field.args.filter((arg) => !arg.description).map((arg) => `${type.name}.${field.name}(${arg.name})`),
      ]),
      ...(isInputObjectType(type) ? Object.values(type.getFields()) : [])
        .filter((field) => !field.description)
        .map((field) => `${type.name}.${field.name}`),
      ...(isEnumType(type) ? type.getValues() : [])
        .filter((value) => !value.description)
        .map((value) => `${type.name}.${value.name}`),
    ]);
    expect(bare).toEqual([]);
  });

  test('every REST operation has a summary, and the 18 of the interface are numbered as far as they are built', () => {
    const { paths } = JSON.parse(readFileSync(join(ROOT, 'schema/openapi.json'), 'utf8')) as {
      paths: Record<string, Record<string, { summary?: string; 'x-operation'?: number; 'x-extension'?: boolean }>>;
    };
    const operations = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ name: `${method} ${path}`, ...operation })),
    );
    expect(operations.filter(({ summary }) => !summary).map(({ name }) => name)).toEqual([]);
    expect(
      operations
        .filter((it) => (it['x-operation'] === undefined) === (it['x-extension'] !== true))
        .map(({ name }) => name),
    ).toEqual([]);
    const numbers = operations.flatMap((it) => it['x-operation'] ?? []).sort((a, b) => a - b);
    expect(numbers).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18]);
  });

  test('the document of rotations has the states of an attempt, and what may follow on each', () => {
    const document = readDocument(`${DOCS}/rotations.md`);
    const [, drawing = ''] = /```mermaid\nstateDiagram-v2\n([^`]*)```/.exec(document) ?? [];
    const arrows = Object.entries(STATES).flatMap(([state, { next }]) => next.map((each) => `  ${state} --> ${each}`));
    expect(drawing.trimEnd().split('\n')).toEqual(['  [*] --> planned', ...arrows]);
    for (const [state, { means }] of Object.entries(STATES)) expect(document).toContain(`| \`${state}\` | ${means} |`);
  });

  test('the document of the configuration has a row for every setting, and for nothing else', () => {
    const settings = ['src/config.ts', 'src/kernel/tracing/trace-settings.ts'].flatMap((file) =>
      [...readFileSync(join(ROOT, file), 'utf8').matchAll(/^ {2}([A-Z_]+): /gm)].map((match) => match[1] as string),
    );
    expect(settings.length).toBeGreaterThan(10);
    expect(rowsOf('configuration.md').sort()).toEqual(settings.sort());
  });

  test('README.md names no setting that does not exist', () => {
    const [, table = ''] = /^## Configuration\n([\s\S]*?)^## /m.exec(readDocument('README.md')) ?? [];
    const named = [...table.matchAll(/`([A-Z_]+)`/g)].map(([, name]) => name as string);
    expect(named.length).toBeGreaterThan(5);
    const known = rowsOf('configuration.md');
    expect(named.filter((name) => !known.includes(name))).toEqual([]);
  });

  test('the document of the log has every event', () => {
    const events = sources('src').flatMap(({ text }) =>
      [...text.matchAll(/\blog(?:\.\w+)?\(\s*'([^']+)'/g)].map((match) => match[1] as string),
    );
    const document = readDocument(`${DOCS}/log.md`);
    expect(events.length).toBeGreaterThan(15);
    expect(events.filter((event) => !document.includes(`\`${event}\``))).toEqual([]);
  });
});

/** What the rows of the tables of a document begin with, where that is a name in capitals. */
const rowsOf = (document: string): string[] =>
  [...readDocument(`${DOCS}/${document}`).matchAll(/^\| `([A-Z_]+)` \|/gm)].map(([, name]) => name as string);
