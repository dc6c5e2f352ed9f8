import { restOperations } from '../kit/operations/rest-requests.js';
import { PATHS } from '../kit/reference.js';
import { sample } from '../kit/scope.js';
import { LENIENT, useSharedStrongroom } from '../kit/strongroom.js';
import { seedWorld } from '../kit/world.js';

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

/** Places where a value is not what the schema promises. */
function misfits(schema: Schema, value: unknown, at = ''): string[] {
  if (schema.anyOf !== undefined) {
    const each = schema.anyOf.map((one) => misfits(one, value, at));
    return each.find((violations) => violations.length === 0) ?? each.flat();
  }
  const types = [schema.type ?? []].flat();
  const type = typeOf(value);
  if (types.length > 0 && !types.includes(type) && !(type === 'integer' && types.includes('number')))
    return [`${at} is ${type}, not ${types.join(' or ')}`];
  if (schema.enum !== undefined && !schema.enum.includes(value)) return [`${at} is none of the words`];
  if (Array.isArray(value)) return value.flatMap((item, index) => misfits(schema.items ?? {}, item, `${at}[${index}]`));
  if (type !== 'object') return [];
  const { properties = {}, required = [] } = schema;
  const fields = Object.entries(value as object);
  const lacks = required.filter((name) => !(name in (value as object))).map((name) => `${at}.${name} is not there`);
  const violations = fields.flatMap(([name, inner]) => {
    const rule = properties[name];
    if (rule !== undefined) return misfits(rule, inner, `${at}.${name}`);
    return schema.additionalProperties === false ? [`${at}.${name} is not promised`] : [];
  });
  return [...lacks, ...violations];
}

/** Fields that no reply leaves null: the interface has them as plain strings. */
const NEVER_NULL = ['secretValue', 'secretComment', 'value', 'nextCursor'];

/** All but those that take a host that is not there. */
const DONE = restOperations().filter(({ needsHost }) => !needsHost);
/** Each change needs a world of its own. */
const SOME = [
  ...DONE.filter(({ changes }) => !changes),
  ...sample(
    DONE.filter(({ changes }) => changes),
    3,
    1,
  ),
];

describe('a reply is what the API reference promises', () => {
  const strongroom = useSharedStrongroom(LENIENT, 'every operation');
  let read: Awaited<ReturnType<typeof seedWorld>>;
  beforeAll(async () => {
    read = await seedWorld(strongroom.seed);
  });

  test.each(SOME.map((operation) => [operation.name, operation] as const))('%s', async (route, operation) => {
    const { world, admin } = operation.changes ? await seedWorld(strongroom.seed, operation.things) : read;
    const { status, body } = await operation.send(admin, world);
    expect({ status, misfits: misfits(schemaOf(route), body) }).toEqual({ status: 200, misfits: [] });
  });

  test('with `<hidden>` in place of values that are withheld, and not null', async () => {
    const { world, admin } = await seedWorld(strongroom.seed);
    const { body } = await admin.get(
      `/api/v4/secrets?projectId=${world.project}&environment=dev&viewSecretValue=false`,
    );
    expect(misfits(schemaOf('GET /api/v4/secrets'), body)).toEqual([]);
    expect(body.secrets[0]).toMatchObject({ secretValue: '<hidden>', secretValueHidden: true });
  });

  test('and the reference does not call a field nullable that never is', () => {
    // The version that a deletion leaves behind has no value.
    const others = Object.entries(PATHS).filter(([path]) => !path.includes('/versions'));
    const nullable = [...JSON.stringify(others).matchAll(/"(\w+)":\{"type":\["string","null"\]/g)].map(
      ([, name]) => name,
    );
    expect(nullable.filter((name) => NEVER_NULL.includes(name as string))).toEqual([]);
  });
});
