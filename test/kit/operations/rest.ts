import { assemble } from '../../../src/app.js';
import { enumName } from '../../../src/kernel/names.js';
import { fieldOf, type Route } from '../../../src/rest/route.js';
import { PATHS } from '../reference.js';
import { FIELDS, OF_INSTALLATION } from './fields.js';
import { GRAPHQL, takenBy } from './graphql.js';
import { REST_NAMES, valueNamed } from './names.js';
import type { RestOperation, Values } from './operation.js';
import { BELOW, ROUTES, WITH_HOSTS } from './routes.js';

/** What the API reference says of a body or a value. */
interface Schema {
  readonly enum?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
}

interface Parameter {
  readonly in: 'path' | 'query' | 'header';
  readonly name: string;
  readonly required?: boolean;
  readonly schema: Schema;
}

const ALL = assemble().routes;
const BY_FIELD = new Map(GRAPHQL.map((operation) => [operation.field, operation]));

for (const name of Object.keys(ROUTES))
  if (!ALL.some((route) => nameOf(route) === name))
    throw new Error(`routes.ts has a row for ${name}, which is no route`);

/** A request for every route, but for those of the installation admin: what the field that answers it gets, as REST has it. */
export const REST: readonly RestOperation[] = ALL.filter(
  (route) => !OF_INSTALLATION.includes(fieldOf(route)) && !WITH_HOSTS.includes(nameOf(route)),
).map(operationOf);

function nameOf({ method, path }: Route): string {
  return `${method} ${path}`;
}

function operationOf(route: Route): RestOperation {
  const name = nameOf(route);
  const ofField = BY_FIELD.get(fieldOf(route));
  const described = PATHS[route.path]?.[route.method.toLowerCase()];
  if (ofField === undefined || described === undefined)
    throw new Error(`${name} is not in schema/, or not answered by ${fieldOf(route)} there: npm run schema`);
  const { field, args, ...facts } = ofField;
  const { path, query, body, ...ownFacts } = ROUTES[name] ?? {};
  const given = { ...args, ...FIELDS[field]?.inRest };
  const partOf = (schema: Schema, stated: Values | undefined) =>
    valuesOf(schema, { ...given, ...stated }, { route: name, field });
  const inPath = partOf(parametersOf(described, 'path'), { ...idIn(route, field, args), ...below(route), ...path });
  const inQuery = partOf(parametersOf(described, 'query'), query);
  const inBody = partOf(described.requestBody?.content['application/json'].schema ?? {}, body);
  return {
    ...facts,
    ...(route.path.includes('{projectSlug}') ? { looksUp: 'project:get' } : {}),
    ...ownFacts,
    route: name,
    path: asTexts(inPath),
    query: asTexts(inQuery),
    ...(Object.keys(inBody).length === 0 ? {} : { body: inBody }),
  };
}

/** Of a path, the last parameter that is no argument of the field is its `id`. */
function idIn({ path }: Route, field: string, { id }: Values): Values {
  const taken = takenBy(field);
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const last = names.findLast((name) => !taken.has(REST_NAMES[name] ?? name));
  return id === undefined || last === undefined ? {} : { [last]: id };
}

function below({ path }: Route): Values {
  return Object.entries(BELOW).find(([start]) => path.startsWith(start))?.[1] ?? {};
}

function parametersOf({ parameters = [] }: { parameters?: readonly Parameter[] }, place: Parameter['in']): Schema {
  const there = parameters.filter((parameter) => parameter.in === place);
  return {
    properties: Object.fromEntries(there.map(({ name, schema }) => [name, schema])),
    required: there.filter(({ required }) => required).map(({ name }) => name),
  };
}

/** What is stated, what is required, and every id. @throws Error for a name that is required and has no value */
function valuesOf(
  { properties = {}, required = [] }: Schema,
  stated: Values,
  { route, field }: { readonly route: string; readonly field: string },
): Values {
  const entries = Object.entries(properties).map(([name, schema]) => {
    const argument = REST_NAMES[name] ?? name;
    const from = [name, argument].find((key) => key in stated);
    if (from !== undefined) return [name, restWords(stated[from], schema)] as const;
    const isRequired = required.includes(name);
    const value = isRequired || /(Ids?|IdOrName)$/.test(name) ? valueNamed(argument, field) : undefined;
    if (isRequired && value === undefined)
      throw new Error(
        `${route}: no value for ${name} in routes.ts, in fields.ts for ${field}, or by its name in names.ts`,
      );
    return [name, value] as const;
  });
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

/** A value of the schema with the words of REST for those of its enums: `read-value` for `READ_VALUE`. */
function restWords(value: unknown, schema: Schema = {}): unknown {
  const { anyOf = [] } = schema;
  const { enum: words, items, properties }: Schema = Object.assign({}, schema, ...anyOf);
  if (Array.isArray(value)) return value.map((item) => restWords(item, items));
  if (typeof value !== 'object' || value === null) return words?.find((word) => enumName(`${word}`) === value) ?? value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, restWords(inner, properties?.[name])]));
}

export function asTexts(values: Values): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, String(value)]));
}
