import { type GraphQLSchema, validate } from 'graphql';
import { checkVariables, variableTypes } from '../kernel/graphql/variables/input-types.js';
import { isStrict } from '../kernel/validation.js';
import { type CompiledRoute, documentOf, routesOf } from './compiled-route.js';
import { checkHarmless } from './harmless-fields.js';
import { NOTHING, type Route } from './route.js';
import { sampleKeys, sampleParams, sampleVariables } from './sample-request.js';

/**
 * Routes that are checked against the schema. `npm run schema` does so, and a test; a start takes them as they are.
 *
 * @throws Error naming the route whose document, variables, example, path, number or operation id does not fit
 */
export function compileRoutes(schema: GraphQLSchema, routes: readonly Route[]): CompiledRoute[] {
  const compiled = routesOf(schema, routes);
  const seen = new Set<string>();
  for (const one of compiled) {
    const { method, path, operation } = one.declared;
    const name = `${method} ${path}`;
    for (const key of [
      name.replace(/\{\w+\}/g, '{}'),
      ...(operation === undefined ? [] : [`operation ${operation}`]),
    ]) {
      if (seen.has(key)) throw new Error(`${name}: ${key} is declared twice`);
      seen.add(key);
    }
    try {
      checkRoute(schema, one);
    } catch (error) {
      throw new Error(`${name}: ${(error as Error).message}`, { cause: error });
    }
  }
  checkPaths(routes);
  for (const one of compiled) void [one.operationId, one.current, one.ofName];
  return compiled;
}

/** @throws Error for a path whose methods call a parameter by different names: a document has one template for one path */
function checkPaths(routes: readonly Route[]): void {
  const templates = new Map<string, string>();
  for (const { path } of routes) {
    const plain = path.replace(/\{\w+\}/g, '{}');
    const template = templates.get(plain) ?? path;
    if (template !== path) throw new Error(`${path} is called ${template} elsewhere`);
    templates.set(plain, template);
  }
}

function checkRoute(schema: GraphQLSchema, one: CompiledRoute): void {
  const { route } = one;
  if ((route.operation === undefined) !== (route.extension === true))
    throw new Error('is one of the 18 or an extension, not both');
  if (![route.query, route.body].every((rules) => rules === undefined || isStrict(rules)))
    throw new Error('its rules let unknown keys pass');
  checkHarmless(route.path, route.body ?? NOTHING, route.harmless ?? {});
  const example = route.body?.safeParse(route.example);
  if (example?.success === false) throw new Error(`its body needs an example that fits: ${example.error.message}`);
  const variables = sampleVariables(route);
  const { variableDefinitions } = checkDocument(schema, route.document, variables);
  const takesCursor = [route.query, route.body].some((rules) => rules !== undefined && 'cursor' in rules.shape);
  if (takesCursor && !('after' in variables)) throw new Error('takes a cursor, and its document does not');
  const isOfProject = variableDefinitions?.some(({ variable }) => variable.name.value === 'projectId');
  if (route.cached === true && (route.method !== 'GET' || isOfProject !== true))
    throw new Error('is cached, and no GET of the project of a variable');
  if (route.cachedForCaller === true && (route.method !== 'GET' || route.quirks !== undefined))
    throw new Error('is cached for its caller, and no GET with one reply for all clients');
  const { path, lookup, query, body } = route;
  const sample = { params: sampleParams(path), query: sampleKeys(query), body: sampleKeys(body) };
  if (lookup !== undefined) checkDocument(schema, lookup.document, { ...lookup.variables(sample) });
  void [one.answer, one.about, one.descriptions, one.demand, one.complete];
}

/** @throws Error unless the document fits the schema, and the variables the document */
function checkDocument(schema: GraphQLSchema, text: string, sample: Record<string, unknown>) {
  const { document, operation } = documentOf(schema, text);
  const [violation] = validate(schema, document);
  if (violation !== undefined) throw violation;
  checkVariables(variableTypes(schema, operation), operation, sample);
  return operation;
}
