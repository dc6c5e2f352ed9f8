import { printType } from 'graphql';
import { Args, Field, Mutation, ObjectType, Query, Resolver, registerEnumType } from 'type-graphql';
import { z } from 'zod';
import { argsType, enumOfRule, Input, inputOf, inputType, payloadOf } from '../../../src/kernel/graphql/inputs.js';
import { buildGraphQLSchema } from '../../../src/kernel/graphql/schema.js';
import { anyId, idOf } from '../../../src/kernel/value-rules.js';

const Shade = { DARK: 'dark', LIGHT: 'light' } as const;
registerEnumType(Shade, { name: 'Shade', description: 'How bright it is.' });
const shade = z.enum(['dark', 'light']);
enumOfRule(shade, Shade);

const Label = z
  .strictObject({ text: z.string().trim().max(9).meta({ description: 'What it says.' }) })
  .meta({ description: 'A label.' });
const Box = z
  .strictObject({
    boxId: idOf('box'),
    name: z.string().min(1).optional().meta({ description: 'Its name.' }),
    note: z.string().meta({ description: 'A note.' }).nullish(),
    size: z.int().default(3).meta({ description: 'Its size.' }),
    weight: z.number().optional().meta({ description: 'Its weight.' }),
    isOpen: z.boolean().meta({ description: 'Whether it is open.' }),
    shade: shade.default('light').meta({ description: 'Its shade.' }),
    labels: z.array(Label).meta({ description: 'Its labels.' }),
    ownerIds: z.array(anyId).nullish().meta({ description: 'Who it belongs to.' }),
    count: z.preprocess(Number, z.int()).meta({ description: 'A count.' }),
  })
  .refine(({ size }) => size > 0)
  .meta({ description: 'A new box.' });

inputType('LabelInput', Label);
const MakeBoxInput = inputOf('makeBox', Box);
const BoxArgs = argsType(z.strictObject({ boxId: idOf('Which box.'), first: Box.shape.size }));

@ObjectType('Box', { description: 'A box.' })
class BoxType {
  @Field(() => String, { description: 'Its name.' })
  name!: string;
}
const MakeBoxPayload = payloadOf('makeBox', { box: [BoxType, 'The box.'], others: [[BoxType], 'What is beside it.'] });

@Resolver()
class Boxes {
  @Query(() => String, { description: 'What it was given.' })
  box(@Args(() => BoxArgs) args: object): string {
    return JSON.stringify(args);
  }

  @Mutation(() => MakeBoxPayload, { description: 'Makes a box.' })
  makeBox(@Input(MakeBoxInput) _input: object): object {
    return {};
  }
}

test('an input type has the fields, descriptions and defaults of its rules', () => {
  const schema = buildGraphQLSchema([new Boxes()]);
  const type = (name: string): string => printType(schema.getType(name) as never);

  expect(type('MakeBoxInput')).toBe(`"""Input of \`makeBox\`."""
input MakeBoxInput {
  """ID of the box."""
  boxId: ID!

  """Its name."""
  name: String

  """A note."""
  note: String

  """Its size."""
  size: Int! = 3

  """Its weight."""
  weight: Float

  """Whether it is open."""
  isOpen: Boolean!

  """Its shade."""
  shade: Shade! = LIGHT

  """Its labels."""
  labels: [LabelInput!]!

  """Who it belongs to."""
  ownerIds: [ID!]

  """A count."""
  count: Int!
}`);
  expect(type('LabelInput')).toContain('"""What it says."""\n  text: String!');
  expect(type('Mutation')).toContain('"""A new box."""\n    input: MakeBoxInput!');
  expect(type('Query')).toContain('"""Which box."""\n    boxId: ID!');
  expect(type('Query')).toContain('first: Int! = 3');
  expect(type('MakeBoxPayload')).toContain('"""Result of `makeBox`."""');
  expect(type('MakeBoxPayload')).toContain('"""The box."""\n  box: Box!');
  expect(type('MakeBoxPayload')).toContain('"""What is beside it."""\n  others: [Box!]!');
});

test.each([
  ['a description of a field', { name: z.string() }, 'the rule of name has no description'],
  ['a type of GraphQL', { when: z.bigint().meta({ description: 'When.' }) }, 'the rule of when has no type in GraphQL'],
  [
    'an input type of an object inside',
    { inner: z.strictObject({}).meta({ description: 'Inner.' }) },
    'the rule of inner has no type in GraphQL',
  ],
])('rules without %s are refused at start', (_, shape, message) => {
  const rules = z.strictObject(shape as z.ZodRawShape).meta({ description: 'An input.' });
  expect(() => inputType('WrongInput', rules)).toThrow(message);
});
