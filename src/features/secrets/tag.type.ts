import { Field, ID, InputType, ObjectType } from 'type-graphql';
import { Node } from '../../kernel/graphql/node.js';
import { connectionOf } from '../../kernel/graphql/page.js';
import type { TagRecord } from './secret.records.js';

/** What the API shows of a tag. */
@ObjectType('Tag', {
  implements: Node,
  description: 'A label on secrets of one project.',
  simpleResolvers: true,
})
export class TagType {
  @Field(() => ID, { description: 'Id of the tag.' })
  id!: string;

  @Field(() => String, { description: 'What people and filters name it by; unique in the project.' })
  slug!: string;

  @Field(() => String, {
    description: 'What people call it: the slug.',
    deprecationReason: 'It is the slug: ask for `slug`.',
  })
  name!: string;

  @Field(() => String, { description: 'Its colour, as the project likes to write it.' })
  color!: string;
}

export const toTagType = ({ id, slug, color }: TagRecord): TagType => ({ id, slug, name: slug, color });

export const TagConnection = connectionOf(TagType, 'Tag', 'slug');

@InputType({ description: 'What a new tag is.' })
export class CreateTagInput {
  @Field(() => ID, { description: 'The project.' })
  projectId!: string;

  @Field(() => String, {
    description: 'Lower-case words joined by hyphens, as `web-shop`, 1 to 64 characters, unique in the project.',
  })
  slug!: string;

  @Field(() => String, { description: 'Its colour, as `#ff8800`, 1 to 64 characters.' })
  color!: string;
}

@InputType({ description: 'What changes of a tag; what is absent stays.' })
export class UpdateTagInput {
  @Field(() => ID, { description: 'The project.' })
  projectId!: string;

  @Field(() => ID, { description: 'The tag.' })
  tagId!: string;

  @Field(() => String, {
    nullable: true,
    description: 'Lower-case words joined by hyphens, as `web-shop`, 1 to 64 characters.',
  })
  slug?: string;

  @Field(() => String, { nullable: true, description: 'Its colour, as `#ff8800`, 1 to 64 characters.' })
  color?: string;
}

@InputType({ description: 'Which tag goes. The secrets that carry it stay.' })
export class DeleteTagInput {
  @Field(() => ID, { description: 'The project.' })
  projectId!: string;

  @Field(() => ID, { description: 'The tag.' })
  tagId!: string;
}

@ObjectType({ description: 'The new tag.' })
export class CreateTagPayload {
  @Field(() => TagType, { description: 'The tag.' })
  tag!: TagType;
}

@ObjectType({ description: 'The tag after the change.' })
export class UpdateTagPayload {
  @Field(() => TagType, { description: 'The tag.' })
  tag!: TagType;
}

@ObjectType({ description: 'The tag that is gone.' })
export class DeleteTagPayload {
  @Field(() => TagType, { description: 'As it was.' })
  tag!: TagType;
}
