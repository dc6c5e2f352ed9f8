import {
  type GraphQLField,
  type GraphQLInterfaceType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isInterfaceType,
  isLeafType,
  isObjectType,
  isRequiredArgument,
} from 'graphql';

type Composite = GraphQLObjectType | GraphQLInterfaceType;

/** A field that leads from one type to another, and a document that asks for it of all things of the type. */
export interface Lead {
  /** `Type.field`. */
  readonly name: string;
  readonly document: string;
}

const compositeOf = ({ type }: GraphQLField<unknown, unknown>): Composite | null => {
  const named = getNamedType(type);
  return isObjectType(named) || isInterfaceType(named) ? named : null;
};

/**
 * Every field of an object type that can be reached from these root fields, each by a shortest way.
 *
 * @param roots what to ask of the root, by the type that it answers: `projects` with its arguments
 */
export function leadsFrom(schema: GraphQLSchema, roots: Readonly<Record<string, string>>): Lead[] {
  const query = schema.getQueryType() as GraphQLObjectType;
  const seen = new Set<Composite>();
  const leads: Lead[] = [];
  let ring = Object.entries(roots).map(([field, call]) => ({
    type: compositeOf(query.getFields()[field] as GraphQLField<unknown, unknown>) as Composite,
    wrap: (selection: string) => `{ ${call} ${selection} }`,
  }));
  while (ring.length > 0) {
    const next: typeof ring = [];
    for (const { type, wrap } of ring) {
      if (seen.has(type)) continue;
      seen.add(type);
      for (const field of Object.values(type.getFields())) {
        const target = compositeOf(field);
        if (target === null || field.args.some(isRequiredArgument)) continue;
        const into = (selection: string) => wrap(`{ ${field.name} ${selection} }`);
        leads.push({ name: `${type.name}.${field.name}`, document: into(scalarsOf(target)) });
        next.push({ type: target, wrap: into });
      }
    }
    ring = next;
  }
  return leads;
}

/** Everything of a type that is no object. */
function scalarsOf(type: Composite): string {
  const leaves = Object.values(type.getFields()).filter(({ type: leaf }) => isLeafType(getNamedType(leaf)));
  return `{ __typename ${leaves.map(({ name }) => name).join(' ')} }`;
}
