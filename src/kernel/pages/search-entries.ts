import { Kind, parse } from 'graphql';
import { type ExampleOperation, operationName } from './html.js';

/** A part of a guide, from one heading to the next. */
export interface Section {
  readonly address: string;
  readonly guide: string;
  readonly heading: string;
  readonly text: string;
}

/** A field of `Query`, `Mutation` or `Subscription`. */
export interface Operation {
  readonly kind: 'query' | 'mutation' | 'subscription';
  readonly name: string;
  readonly description: string;
  /** The field as the schema declares it, without descriptions. */
  readonly signature: string;
  readonly isDeprecated: boolean;
}

/** What the search page finds: a section of a guide, a task, or an operation of GraphQL or REST. */
export interface SearchEntry {
  readonly kind: 'guide' | 'task' | 'query' | 'mutation' | 'subscription' | 'REST';
  readonly address: string;
  readonly title: string;
  readonly text: string;
  /** Name of the operation, method and path, or the title of the guide. */
  readonly name: string;
  /** Titles of the tasks that use the operation. */
  readonly tasks: string;
  readonly isDeprecated: boolean;
}

/** The part of the OpenAPI document that the search reads. */
export interface ApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, ApiOperation>>>>;
}

interface ApiOperation {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly deprecated?: boolean;
}

/** The guide that describes all operations of the schema. */
export const OPERATIONS = 'graphql-operations';
/** Where the explorer opens a task. */
export const taskAddress = (example: ExampleOperation): string => `/graphql#task=${operationName(example)}`;
/** Where an operation of the schema is described. */
const operationAddress = (name: string): string => `/guides/${OPERATIONS}#${name}`;

/** Everything that can be searched for. */
export const searchEntries = ({
  sections,
  operations,
  api,
  examples,
}: {
  readonly sections: readonly Section[];
  readonly operations: readonly Operation[];
  readonly api: ApiDocument;
  readonly examples: readonly ExampleOperation[];
}): SearchEntry[] => {
  const uses = examples.map((example) => ({ title: example.title, fields: rootFieldsOf(example.query) }));
  const tasksOf = (field: string) => uses.filter(({ fields }) => fields.includes(field)).map(({ title }) => title);
  return [
    ...sections.map(
      ({ address, guide, heading, text }): SearchEntry => ({
        ...{ kind: 'guide', address, title: heading, text, name: guide, tasks: '', isDeprecated: false },
      }),
    ),
    ...examples.map(
      (example, at): SearchEntry => ({
        ...{ kind: 'task', address: taskAddress(example), title: example.title, text: example.note ?? '' },
        ...{ name: uses[at]?.fields.join(' ') ?? '', tasks: '', isDeprecated: false },
      }),
    ),
    ...operations.map(
      ({ kind, name, description, isDeprecated }): SearchEntry => ({
        ...{ kind, address: operationAddress(name), title: name, text: description, name },
        ...{ tasks: tasksOf(name).join('. '), isDeprecated },
      }),
    ),
    ...Object.entries(api.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]): SearchEntry => {
        const { operationId, summary, description = '', tags, deprecated = false } = operation;
        return {
          kind: 'REST',
          address: `/docs#tag/${String(tags[0]).replaceAll(' ', '-')}/${method.toUpperCase()}${path}`,
          title: summary,
          text: description,
          name: `${method.toUpperCase()} ${path} ${operationId}`,
          tasks: '',
          isDeprecated: deprecated,
        };
      }),
    ),
  ];
};

/** Fields of `Query` or `Mutation` that a document selects. */
const rootFieldsOf = (document: string): string[] =>
  parse(document).definitions.flatMap((it) =>
    it.kind === Kind.OPERATION_DEFINITION
      ? it.selectionSet.selections.flatMap((field) => (field.kind === Kind.FIELD ? field.name.value : []))
      : [],
  );
