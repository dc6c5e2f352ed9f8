import { Field, ID, ObjectType } from 'type-graphql';
import { Node } from '../../kernel/graphql/node.js';
import { countedConnectionOf } from '../../kernel/graphql/page.js';

/** What the API shows of a tag. */
@ObjectType('Tag', { implements: Node, description: 'A label on secrets of one project.', simpleResolvers: true })
export class TagType extends Node {
  @Field(() => ID, { description: 'ID of the project.' })
  projectId!: string;

  @Field(() => String, { description: 'What people and filters name it by; unique in the project.' })
  slug!: string;

  @Field(() => String, { description: 'Its colour, as the project likes to write it.' })
  color!: string;
}

export const TagConnection = countedConnectionOf(TagType, 'Tag', 'slug');
