import { Field, ID, ObjectType } from 'type-graphql';
import { Node } from '../../../kernel/graphql/node.js';
import { countedConnectionOf } from '../../../kernel/graphql/page.js';

/** What the API shows of a tag. */
@ObjectType('Tag', { implements: Node, description: 'A label for secrets of one project.', simpleResolvers: true })
export class TagType extends Node {
  @Field(() => ID, { description: 'ID of the project.' })
  projectId!: string;

  @Field(() => String, { description: 'Slug of the tag, unique in the project, for example `web-shop`.' })
  slug!: string;

  @Field(() => String, { description: 'Color of the tag, for example `#ff8800`.' })
  color!: string;
}

export const TagConnection = countedConnectionOf(TagType, 'Tag', 'slug');
