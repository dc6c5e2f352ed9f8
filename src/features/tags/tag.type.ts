import { Field, ID, ObjectType } from 'type-graphql';
import { argsType, inputType, payloadType } from '../../kernel/graphql/inputs.js';
import { Node } from '../../kernel/graphql/node.js';
import { connectionOf } from '../../kernel/graphql/page.js';
import type { TagRow } from './tag.queries.js';
import { CreateTag, ListTags, OneTag, TagBySlug, UpdateTag } from './tag.rules.js';

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

export const toTagType = ({ id, slug, color }: TagRow): TagType => ({ id, slug, name: slug, color });

export const TagConnection = connectionOf(TagType, 'Tag', 'slug');

export const TagsArgs = argsType(ListTags);
export const TagBySlugArgs = argsType(TagBySlug);
export const CreateTagInput = inputType('CreateTagInput', CreateTag);
export const UpdateTagInput = inputType('UpdateTagInput', UpdateTag);
export const DeleteTagInput = inputType('DeleteTagInput', OneTag);

export const CreateTagPayload = payloadType('CreateTagPayload', 'The new tag.', { tag: [TagType, 'The tag.'] });
export const UpdateTagPayload = payloadType('UpdateTagPayload', 'The changed tag.', {
  tag: [TagType, 'The tag as it is now.'],
});
export const DeleteTagPayload = payloadType('DeleteTagPayload', 'The deleted tag.', {
  tag: [TagType, 'The deleted tag.'],
});
