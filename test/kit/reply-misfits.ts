import { PATHS } from './reference.js';

interface Schema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly additionalProperties?: boolean;
  readonly anyOf?: readonly Schema[];
}

const schemaOf = (route: string): Schema => {
  const [method = '', path = ''] = route.split(' ');
  return PATHS[path][method.toLowerCase()].responses[200].content['application/json'].schema;
};

const typeOf = (value: unknown): string => {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return Number.isInteger(value) ? 'integer' : typeof value;
};

/** Places where the body of a reply is not what the API reference promises. @param route `GET /api/...` */
export const misfits = (route: string, body: unknown): string[] => misfitsOf(schemaOf(route), body, '');

function misfitsOf(schema: Schema, value: unknown, at: string): string[] {
  if (schema.anyOf !== undefined) {
    const each = schema.anyOf.map((one) => misfitsOf(one, value, at));
    return each.find((violations) => violations.length === 0) ?? each.flat();
  }
  const types = [schema.type ?? []].flat();
  const type = typeOf(value);
  if (types.length > 0 && !types.includes(type) && !(type === 'integer' && types.includes('number')))
    return [`${at} is ${type}, not ${types.join(' or ')}`];
  if (schema.enum !== undefined && !schema.enum.includes(value)) return [`${at} is none of the words`];
  if (Array.isArray(value))
    return value.flatMap((item, index) => misfitsOf(schema.items ?? {}, item, `${at}[${index}]`));
  if (type !== 'object') return [];
  const { properties = {}, required = [] } = schema;
  const fields = Object.entries(value as object);
  const lacks = required.filter((name) => !(name in (value as object))).map((name) => `${at}.${name} is not there`);
  const violations = fields.flatMap(([name, inner]) => {
    const rule = properties[name];
    if (rule !== undefined) return misfitsOf(rule, inner, `${at}.${name}`);
    return schema.additionalProperties === false ? [`${at}.${name} is not promised`] : [];
  });
  return [...lacks, ...violations];
}
