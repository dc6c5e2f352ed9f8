import { print } from 'graphql';
import { Resolver } from 'type-graphql';
import { z } from 'zod';
import type { Context } from '../../src/kernel/context.js';
import { objectType } from '../../src/kernel/graphql/object-types.js';
import { mutation, nested, query } from '../../src/kernel/graphql/operations.js';
import { connectionOf } from '../../src/kernel/graphql/page.js';
import { buildGraphQLSchema } from '../../src/kernel/graphql/schema.js';
import { type CountedConnectionOf, pageOf, pageRules } from '../../src/kernel/paging.js';
import { idOf } from '../../src/kernel/value-rules.js';
import { compileRoutes } from '../../src/rest/compile.js';
import { documentOf } from '../../src/rest/compiled-route.js';
import { type FieldRoute, routesAt } from '../../src/rest/route.js';

const LidType = objectType('Lid', 'A lid.', { color: [String, 'Its colour.'], size: [String, 'Its size.'] });
type LidType = InstanceType<typeof LidType>;
const PotType = objectType('Pot', 'A pot.', {
  id: [String, 'Its ID.'],
  owner: [String, 'Whose it is.'],
  lid: [LidType, 'What it is shut with.'],
});
type PotType = InstanceType<typeof PotType>;

const PotConnection = connectionOf(PotType, 'Pot', 'colour');
const OnePot = z.strictObject({ id: idOf('The pot.') }).meta({ description: 'Which pot.' });
const Polish = OnePot.extend({ cloth: z.string().meta({ description: 'With what.' }) }).meta({ description: 'How.' });
const aPot = (id: string): PotType => ({ id, owner: 'us', lid: { color: 'white', size: 'large' } });

@Resolver(() => PotType)
class Pots {
  @query(PotType, OnePot, 'One pot.')
  async pot(_ctx: Context, { id }: { id: string }): Promise<PotType> {
    return aPot(id);
  }

  @query(PotConnection, OnePot.extend(pageRules).meta({ description: 'Which.' }), 'Pots like another one.')
  async pots(_ctx: Context, page: { id: string }): Promise<CountedConnectionOf<PotType>> {
    return pageOf([aPot(page.id)], page, 1, ({ id }) => [id]);
  }

  @mutation(Polish, { pot: [PotType, 'The pot.'] }, 'Polishes a pot.')
  async polishPot(_ctx: Context, { id }: { id: string }): Promise<{ pot: PotType }> {
    return { pot: aPot(id) };
  }

  @nested(LidType, 'Another lid that fits.')
  async spareLid({ lid }: PotType): Promise<LidType> {
    return lid;
  }
}

const schema = buildGraphQLSchema([new Pots()]);
const compiled = (route: FieldRoute) => {
  const [one] = compileRoutes(schema, [route]);
  if (one === undefined) throw new Error('nothing was compiled');
  return one.route;
};
const selected = (select?: string): string => {
  const route = routesAt('/pots').get('/{id}', 'Get a pot', {
    field: 'pot',
    ...(select === undefined ? {} : { select }),
  });
  const [, inner = ''] =
    /pot\(id: \$id\) \{ (.*) \} \}$/.exec(
      print(documentOf(schema, compiled(route).document).document)
        .replace(/\s+/g, ' ')
        .trim(),
    ) ?? [];
  return inner;
};

describe('what a route asks for', () => {
  test.each([
    ['all that an object holds, and not what resolvers find', undefined, 'id owner lid { color size }'],
    ['that, and a field beside it', '* spareLid { size }', 'id owner lid { color size } spareLid { size }'],
    ['that, with one field under another name', 'key: id *', 'key: id owner lid { color size }'],
    ['that, without one field', '* -owner', 'id lid { color size }'],
    ['that, in another order', '* id', 'owner lid { color size } id'],
    ['an object, with all that it holds', 'spareLid', 'spareLid { color size }'],
    ['an object, without one of its fields', 'lid { * -size }', 'lid { color }'],
  ])('is %s', (_, select, inner) => {
    expect(selected(select)).toBe(inner);
  });

  test('leaves out no field that there is not', () => {
    expect(() => selected('* -spareLid')).toThrow(/Pot does not hold spareLid/);
  });
});

describe('what a route replies', () => {
  const pots = routesAt('/pots', {
    as: ['dish', 'dishes'],
    show: ({ id, owner }) => ({ id, of: owner }),
    given: { cloth: 'soft' },
  });
  const polish = pots.patch('/{id}', 'Polish a pot', { field: 'polishPot' });
  const nodes = [aPot('p1')];
  const pageInfo = { hasNextPage: false, endCursor: null };

  test('shows one object and each row of a list in the same way, each under its own name', () => {
    const list = pots.get('/like/{id}', 'List pots', { field: 'pots', given: {}, query: z.strictObject({}) });
    expect(compiled(polish).reply({ polishPot: { pot: aPot('p1') } })).toEqual({ dish: { id: 'p1', of: 'us' } });
    expect(compiled(list).reply({ pots: { nodes, pageInfo } })).toEqual({ dishes: [{ id: 'p1', of: 'us' }] });
  });

  test('is the object itself under no name', () => {
    expect(compiled({ ...polish, as: null }).reply({ polishPot: { pot: aPot('p1') } })).toEqual({ id: 'p1', of: 'us' });
  });

  test('gives what is always given, and the input that the body stands for', () => {
    const body = z.strictObject({ with: z.string() });
    const translated = { ...polish, given: {}, body, example: { with: 'wax' }, input: () => ({ cloth: 'waxed' }) };
    const request = { params: { id: 'p1' }, query: {}, body: {} };
    expect(compiled(polish).variables(request)).toEqual({ input: { id: 'p1', cloth: 'soft' } });
    expect(compiled(translated).variables(request)).toEqual({ input: { id: 'p1', cloth: 'waxed' } });
  });
});
