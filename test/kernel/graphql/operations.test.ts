import { printType } from 'graphql';
import { Field, ObjectType, Resolver } from 'type-graphql';
import { z } from 'zod';
import type { Context } from '../../../src/kernel/context.js';
import { inputType } from '../../../src/kernel/graphql/inputs.js';
import { mutation, nested, query } from '../../../src/kernel/graphql/operations.js';
import { connectionOf } from '../../../src/kernel/graphql/page.js';
import { buildGraphQLSchema } from '../../../src/kernel/graphql/schema.js';
import { type CountedConnectionOf, pageOf } from '../../../src/kernel/paging.js';
import { idOf } from '../../../src/kernel/value-rules.js';

@ObjectType('Cup', { description: 'A cup.' })
class CupType {
  @Field(() => String, { description: 'Its ID.' })
  id!: string;

  @Field(() => String, { description: 'Its colour.' })
  color!: string;
}
const CupConnection = connectionOf(CupType, 'Cup', 'colour');

const OneCup = z.strictObject({ id: idOf('The cup.') }).meta({ description: 'Which cup.' });
const NewCup = z
  .strictObject({ color: z.string().meta({ description: 'Its colour.' }) })
  .meta({ description: 'A new cup.' });
const Wash = z.strictObject({ id: idOf('The cup.') }).meta({ description: 'What to wash.' });
const WashInput = inputType('WashInput', Wash);

@Resolver(() => CupType)
class Cups {
  @query(CupType, OneCup, 'One cup.')
  async cup(_ctx: Context, { id }: { id: string }): Promise<CupType> {
    return { id, color: id };
  }

  @query([CupType], OneCup, 'Cups of a set.')
  async cups(_ctx: Context, { id }: { id: string }): Promise<readonly CupType[]> {
    return [{ id, color: id }];
  }

  @mutation(NewCup, { cup: [CupType, 'The new cup.'] }, 'Makes a cup.')
  async makeCup(_ctx: Context, { color }: z.infer<typeof NewCup>): Promise<{ cup: CupType }> {
    return { cup: { id: color, color } };
  }

  @mutation(WashInput, CupType, 'Washes a cup.')
  async washCup(): Promise<CupType> {
    return { id: 'washed', color: 'white' };
  }

  @mutation(WashInput, CupType, 'Rinses a cup.')
  async rinseCup(): Promise<CupType> {
    return { id: 'washed', color: 'white' };
  }

  @nested([CupType], 'Cups beside it.')
  async beside(cup: CupType): Promise<readonly CupType[]> {
    return [cup];
  }

  @nested(CupConnection, 'Cups like it.')
  async likes({ color }: CupType, _ctx: Context, page: object): Promise<CountedConnectionOf<CupType>> {
    return pageOf([{ id: color, color }], page, 1, (cup) => [cup.color]);
  }
}

describe('methods in the schema', () => {
  const schema = buildGraphQLSchema([new Cups()]);
  const type = (name: string): string => printType(schema.getType(name) as never);

  test('a query takes the arguments of its rules', () => {
    expect(type('Query')).toContain(`"""One cup."""
  cup(
    """The cup."""
    id: ID!
  ): Cup
`);
  });

  test('a query may return a list', () => {
    expect(type('Query')).toMatch(/"""Cups of a set."""\n {2}cups\([^)]*id: ID!\n {2}\): \[Cup!\]\n/);
  });

  test('a mutation takes one input, and both of its types are named after it', () => {
    expect(type('Mutation')).toContain(`"""Makes a cup."""
  makeCup(
    """A new cup."""
    input: MakeCupInput!
  ): MakeCupPayload
`);
    expect(type('MakeCupPayload')).toBe(`"""Result of \`makeCup\`."""
type MakeCupPayload {
  """The new cup."""
  cup: Cup!
}`);
  });

  test('mutations may share a type of their input, and return one of several fields', () => {
    const fields = schema.getMutationType()?.getFields() ?? {};
    for (const name of ['washCup', 'rinseCup']) {
      expect(String(fields[name]?.args[0]?.type)).toBe('WashInput!');
      expect(String(fields[name]?.type)).toBe('Cup');
    }
  });

  test('a list of an object, and one in pages, are null where they are denied', () => {
    expect(type('Cup')).toContain('beside: [Cup!]\n');
    expect(type('Cup')).toMatch(
      /"""Cups like it."""\n {2}likes\([^)]*first: Int[^)]*after: String\n {2}\): CupConnection$/m,
    );
  });
});
